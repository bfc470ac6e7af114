package scope

import "testing"

// Two letters meet when there is a cluster that both tokens match, and sharply
// when there is one other than the dot, which is then the one that common names.
func TestLettersMeetAsTokensDo(t *testing.T) {
	words := []string{
		"a", "A", "b", ".", "-", "~", "\x7e", "é", "e\u0301", "x\u0302", "ß", "σ", "Σ", "я", "\U0010fffe", "?", "*",
		"[a]", "[.]", "[.a]", "[!a]", "[!.]", "[a-z]", "[^a-z]", "[.é]", "[.я]", "[é]", "[!é]", "[ß-ÿ]", "[!ß-ÿ]", "[α-ω]", "[!α-ω]", "[αγε]", "[βδ]", "[!αγε]",
		"[а-я]", "[α-πт]", "[!а-яα-π]", "[!а-пр-я]", "[.-é]", "[!-~]", "[!!-~]", "[ -\U0010ffff]", "[! -\U0010ffff]", "[\u0080-\U0010ffff]", "[!.α-ω]", "[x-\u0090]", "[\u0300]", "[!\u0300]",
	}
	var all []token
	for _, w := range words {
		r := &globReader{rest: w}
		atoms, err := r.sequence(0)
		switch {
		case w == "[\u0300]" || w == "[!\u0300]": // refused as written; as they would be
			all = append(all, token{kind: tokenClass, class: &class{not: w[1] == '!'}})
		case err != nil:
			t.Fatalf("%q: %v", w, err)
		case r.wild:
			all = append(all, token{kind: tokenKinds[atoms[0].kind], class: atoms[0].class})
		default:
			all = append(all, literalTokens(normal(w))...)
		}
	}
	for i := range all {
		for j := range all {
			read, want := common(&all[i], &all[j])
			l, m := all[i].letter(), all[j].letter()
			some, sharp := l.meets(&m)
			if some != want || sharp != (want && read != ".") {
				t.Errorf("%q meets %q: %v, sharply %v; common names %q, %v", words[i], words[j], some, sharp, read, want)
			}
		}
	}
}
