package scope

import (
	"fmt"
	"slices"
	"strings"
)

// expand writes out every {}, so that each result is a plain sequence.
func expand(atoms []atom) ([][]atom, error) {
	out := [][]atom{nil}
	for _, a := range atoms {
		if a.kind != atomChoice {
			for i := range out {
				out[i] = append(out[i], a)
			}
			continue
		}
		var grown [][]atom
		for _, alt := range a.alts {
			tails, err := expand(alt)
			if err != nil {
				return nil, err
			}
			for _, head := range out {
				for _, tail := range tails {
					grown = append(grown, slices.Concat(head, tail))
				}
			}
			if len(grown) > MaxAlternatives {
				return nil, refuse(fmt.Sprintf("more than %d alternatives", MaxAlternatives), "write fewer, or claim the folder above them")
			}
		}
		out = grown
	}
	return out, nil
}

// cut makes the segments of one plain sequence.
func cut(atoms []atom) (alternative, error) {
	var out alternative
	deep := 0
	for from := 0; from <= len(atoms); {
		to := from
		for to < len(atoms) && atoms[to].kind != atomSlash {
			to++
		}
		s, err := makeSegment(atoms[from:to])
		if err != nil {
			return alternative{}, err
		}
		if s.kind == segmentDeep {
			deep++
		}
		if s.kind != segmentDeep || len(out.segments) == 0 || out.segments[len(out.segments)-1].kind != segmentDeep {
			out.add(s)
		}
		from = to + 1
	}
	switch {
	case deep > MaxDeep:
		return alternative{}, refuse(fmt.Sprintf("more than %d **", MaxDeep), "claim the folder above it")
	case len(out.segments) > maxSegments:
		return alternative{}, refuse(fmt.Sprintf("more than %d folders deep", maxSegments), "claim the folder above it")
	}
	return out, nil
}

func makeSegment(atoms []atom) (segment, error) {
	if len(atoms) == 0 {
		return segment{}, refuse("an empty name between slashes", "a pattern is written from the top of the repository, without / before it")
	}
	if len(atoms) == 1 && atoms[0].kind == atomDeep {
		return segment{kind: segmentDeep}, nil
	}
	var tokens []token
	var literal strings.Builder
	wild := false
	flush := func() error {
		text, err := normalised(literal.String())
		if err != nil {
			return err
		}
		literal.Reset()
		if len(tokens) > 0 && text != "" && joins(key(text)) {
			return refuse("a combining mark after a wildcard", "put the letter that it stands on before it")
		}
		tokens = append(tokens, literalTokens(text)...)
		return nil
	}
	for i, a := range atoms {
		if a.kind == atomLiteral {
			literal.WriteString(a.text)
			continue
		}
		if a.kind == atomDeep || i > 0 && a.kind == atomStar && atoms[i-1].kind == atomStar {
			return segment{}, refuse("** beside other characters", "** stands alone between slashes; * is any part of one name")
		}
		if err := flush(); err != nil {
			return segment{}, err
		}
		wild = true
		tokens = append(tokens, token{kind: tokenKinds[a.kind], class: a.class})
	}
	if !wild {
		text, err := normalised(literal.String())
		if err != nil {
			return segment{}, err
		}
		return literalSegment(text)
	}
	if err := flush(); err != nil {
		return segment{}, err
	}
	s := segment{kind: segmentPattern, tokens: tokens}
	if !tokensMeet(tokens, anyName, nil) {
		return segment{}, refuse("a pattern that no name matches", "")
	}
	return s, nil
}

var tokenKinds = [...]tokenKind{atomAny: tokenAny, atomStar: tokenStar, atomClass: tokenClass}

func literalSegment(text string) (segment, error) {
	if text == "." || text == ".." {
		return segment{}, refuse("a . or .. in a pattern", "write it from the top of the repository")
	}
	return segment{kind: segmentLiteral, text: text, key: key(text)}, nil
}
