package hooks_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/hooks"
)

const cwd = "/home/u/repo"

// bash is what a hook tells of a shell command that is about to run in cwd.
func bash(t interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}, command string) api.HookRequest {
	t.Helper()
	in, err := json.Marshal(map[string]any{
		"session_id": "s", "cwd": cwd, "hook_event_name": "PreToolUse", "tool_name": "Bash",
		"tool_input": map[string]any{"command": command},
	})
	if err != nil {
		t.Fatal(err)
	}
	req, err := hooks.Read(hooks.Claude, hooks.PreToolUse, strings.NewReader(string(in)))
	if err != nil {
		t.Fatalf("Read(%q): %v", command, err)
	}
	return req
}

// What is behind a bound may write anywhere; it is not taken to write nothing.
func TestShellBounds(t *testing.T) {
	var many strings.Builder
	for i := range 300 {
		fmt.Fprintf(&many, "rm %d;", i)
	}
	if req := bash(t, many.String()); len(req.Writes) != 256 || !req.Whole {
		t.Errorf("300 writes: %d paths, whole %v", len(req.Writes), req.Whole)
	}
	for name, command := range map[string]string{
		"length":  "rm a" + strings.Repeat(" ", 256<<10),
		"nesting": strings.Repeat("( ", 40) + "rm a" + strings.Repeat(")", 40),
		"scripts": "a=x;" + strings.Repeat("a=$a$a;", 40) + "rm a",
		"ifs":     strings.Repeat("if x; then ", 40) + "rm a",
	} {
		if got := told(bash(t, command)); got != "anywhere" {
			t.Errorf("a command over the bound of %s: %s, want anywhere", name, got)
		}
	}
}

// What a command has written is told only where its folder is known: a shell
// that moved is asked where it stands afterwards.
func TestShellWritesAfterwards(t *testing.T) {
	for _, c := range []shellCase{
		{"ls", ""},
		{"cd sub && ls", ""},
		{"rm a", "a"},
		{"(cd sub && rm a)", "sub/a"},
		{"rm src/*.go", "under(src)"},
		{"git reset --hard", "tree(git reset --hard)"},
		{"cd sub && rm a", "anywhere"},
		{"cd sub && rm -f *.o && cp a b", "anywhere"},
		{"cd sub && git stash", "anywhere tree(git stash)"},
		{"cd sub && cd .. && rm a", "a"},
		{"cd $X; rm /b", "anywhere"},
	} {
		for _, word := range []string{hooks.PostToolUse, hooks.PostToolUseFailure} {
			in := input(t, word, tool("Bash", map[string]any{"command": c.command}))
			req, err := hooks.Read(hooks.Claude, word, strings.NewReader(in))
			if err != nil {
				t.Fatal(err)
			}
			if got := told(req); got != c.want {
				t.Errorf("%s of %q: %s, want %s", word, c.command, got, c.want)
			}
		}
	}
}

// told writes down what a request says of the writes: paths as they are,
// target<name, under(path), anywhere, tree(command) or tree(command @ folder).
func told(req api.HookRequest) string {
	words := append([]string(nil), req.Writes...)
	for _, in := range req.Into {
		words = append(words, in.Target+"<"+strings.Join(in.Names, ","))
	}
	for _, u := range req.Under {
		words = append(words, "under("+u+")")
	}
	if req.Whole && len(req.Under) == 0 {
		words = append(words, "anywhere")
	}
	switch {
	case req.TreeDir != "":
		words = append(words, fmt.Sprintf("tree(%s @ %s)", req.Tree, req.TreeDir))
	case req.Tree != "":
		words = append(words, "tree("+req.Tree+")")
	}
	return strings.Join(words, " ")
}

type shellCase struct{ command, want string }

var shellCases = map[string][]shellCase{
	"reads": {
		{"", ""},
		{"ls -la", ""},
		{"cat a.go | grep -n 'x > y' | head", ""},
		{"echo 'rm a.go; mv b c'", ""},
		{`echo "a > b"`, ""},
		{"# rm a.go", ""},
		{"ls # > a.go", ""},
		{"grep -rn '>' src && wc -l < a.go", ""},
		{"go test ./... 2>&1 | tail -5", ""},
		{"make >/dev/null 2>&1", ""},
		{"cmd 2>/dev/null >&2", ""},
		{"[ a \\> b ] && [[ a > b && c < d ]]", ""},
		{"(( a > b )) || echo $((1 > 0))", ""},
		{"if [[ $x =~ ^(a|b)$ ]]; then ls; fi", ""},
		{"sed -n '1,5p' a.go", ""},
		{"sed 's/a/b/' a.go", ""},
		{"python -c 'open(\"a\",\"w\")'", ""},
		{"node -e 'fs.writeFileSync(\"a\",\"\")'", ""},
		{"python3 - <<'EOF'\nopen('a.go','w')\nrm x\nEOF", ""},
		{"npm run build", ""},
		{"./script.sh > /dev/stderr", ""},
		{"ssh host 'rm a.go'", ""},
		{"docker exec c rm a.go", ""},
		{"find . -name '*.go'", ""},
		{"find . -name '*.go' -exec grep -l x {} +", ""},
		{"find . -type f | xargs grep -l x", ""},
		{"mkdir -p src/new && rmdir old", ""},
		{"install -d build", ""},
		{"curl -s https://example.com/a?b=*", ""},
		{"command -v rm", ""},
		{"rm", ""},
		{"cat <<EOF\nrm a.go > b\nEOF", ""},
		{"cat <<< 'rm a.go'", ""},
		{"tar tf a.tgz && unzip -l a.zip", ""},
		{"$EDITOR a.go", ""},
		{"rm ''", ""},
	},
	"redirections": {
		{"echo x > a.go", "a.go"},
		{"echo x>a.go", "a.go"},
		{"echo x >>a.go", "a.go"},
		{"echo x >| a.go", "a.go"},
		{"exec 3<> a.go", "a.go"},
		{"make &> log", "log"},
		{"make &>> log", "log"},
		{"make >& log", "log"},
		{"make > out 2> err", "out err"},
		{"make 2>err 1>out", "err out"},
		{"> a.go", "a.go"},
		{": > a.go", "a.go"},
		{"echo 2 > a.go", "a.go"},
		{"echo a2>b", "b"},
		{"exec {fd}> a.go", "a.go"},
		{"echo x > 'a b.go'", "a b.go"},
		{"echo x > a\\ b.go", "a b.go"},
		{"echo x > \"a\nb\"", "a\nb"},
		{"echo x > a\\\nb", "ab"},
		{"echo x > $'a\\tb\\x41\\101\\u00e9'", "a\tbAAé"},
		{"echo x > /etc/hosts", "/etc/hosts"},
		{"echo x > ../other/a", "../other/a"},
		{"echo x > $f", "anywhere"},
		{"echo x > \"$dir/a.go\"", "anywhere"},
		{"echo x > src/$name.go", "under(src)"},
		{"echo x > out-$(date).log", "under(.)"},
		{"echo x > $(mktemp)", "under(/tmp)"},
		{"echo x > ~/notes", "~/notes"},
		{"echo x > \"$HOME/notes\"", "~/notes"},
		{"echo x > ${HOME}/notes", "~/notes"},
		{"echo x > '~/notes'", "./~/notes"},
		{"echo x > ~bob/notes", "anywhere"},
		{"echo x > $PWD/a.go", "/home/u/repo/a.go"},
		{"echo x > $TMPDIR/a", "/tmp/a"},
		{"echo x > ${TMPDIR:-/tmp}/a", "/tmp/a"},
		{"cat <<EOF > a.go\nrm b.go\nEOF\nrm c.go", "a.go c.go"},
		{"cat > a.go <<'EOF'\n$(rm b.go)\nEOF", "a.go"},
		{"cat > a.go <<EOF\n$(rm b.go)\nit's \"so\nEOF\nrm c.go", "b.go a.go c.go"},
		{"cat <<-EOF >a.go\n\trm b\n\tEOF\nrm c", "a.go c"},
		{"cat <<A <<B >a.go\nx\nA\ny\nB\nrm c", "a.go c"},
		{"cat > a.go <<'EOF'\nnever ends", "a.go"},
		{"(ls; pwd) > a.go", "a.go"},
		{"{ ls; pwd; } > a.go", "a.go"},
		{"for i in 1 2; do echo $i; done > a.go", "a.go"},
		{"while read l; do echo $l; done < in > out", "out"},
		{"diff <(sort a) <(sort b) > c", "c"},
		{"ls > >(tee log)", "log anywhere"},
		{"echo x > a > b", "a b"},
	},
	"lists": {
		{"rm a; rm b && rm c || rm d | rm e & rm f\nrm g", "a b c d e f g"},
		{"(rm a)", "a"},
		{"((rm a); rm b)", "a b"},
		{"{ rm a; }", "a"},
		{"! rm a", "a"},
		{"if rm a; then rm b; elif rm c; then rm d; else rm e; fi", "a b c d e"},
		{"while rm a; do rm b; done", "a b"},
		{"until rm a; do rm b; done", "a b"},
		{"case $x in a|b) rm a;; (c) rm b;; *) rm c; esac; rm d", "a b c d"},
		{"case $x in\n  a)\n    rm a\n    ;;\nesac\nrm b", "a b"},
		{"f() { rm a; }; f", "a"},
		{"function f { rm a; }", "a"},
		{"function f() { rm a; }", "a"},
		{"echo $(rm a) `rm b` \"$(rm c)\" \"`rm d`\"", "a b c d"},
		{"echo `echo \\`rm a\\``", "a"},
		{"x=$(rm a)", "a"},
		{"x=(a b) ; rm c", "c"},
		{"x+=(a b) ; rm c", "c"},
		{"echo ${x:-$(rm a)}", "a"},
		{"echo $((1+2)); rm a", "a"},
		{"for ((i=0; i<3; i++)); do rm a; done", "a"},
		{"time rm a", "a"},
		{"time (rm a)", "a"},
		{"ls |& tee log", "log"},
		{"ls \\\n  && rm \\\n  a", "a"},
		{"ls &&\nrm a", "a"},
		{"ls; # c'omment\nrm a", "a"},
		{"rm a\r\nrm b\r\n", "a b"},
	},
	"tools": {
		{"rm -rf a b/ c", "a b/ c"},
		{"\\rm a", "a"},
		{"'rm' a", "a"},
		{"/bin/rm -- -a", "-a"},
		{"rm -f a -v b", "a b"},
		{"unlink a", "a"},
		{"mv a b", "a b<a"},
		{"mv a b/", "a b/a"},
		{"mv a .", "a"},
		{"mv a ..", "a ../a"},
		{"mv d/a .", "d/a a"},
		{"mv a b c", "a b c/a c/b"},
		{"mv -t c a b", "a b c/a c/b"},
		{"mv -T a b", "a b"},
		{"mv src/*.go dst/", "under(src) under(dst)"},
		{"mv *.go dst", "dst< under(.)"},
		{"mv a{1,2}.go b", "a1.go a2.go b/a1.go b/a2.go"},
		{"cp a b", "b<a"},
		{"cp -r src/ dst", "dst<src"},
		{"cp -r . dst", "dst<"},
		{"cp a.go{,.bak}", "a.go.bak<a.go"},
		{"cp \"$f\" dst/", "under(dst)"},
		{"cp a \"$d\"", "anywhere"},
		{"cp 'a\x00b' c", ""},
		{"rm 'a\x00b'", ""},
		{"cp a /dev/stdout", ""},
		{"cp a /tmp/x", "/tmp/x<a"},
		{"cp a b /tmp", "/tmp/a /tmp/b"},
		{"cp --target-directory=dst a", "dst/a"},
		{"cp -t dst -- -a", "dst/-a"},
		{"cp a", ""},
		{"cp $files", "anywhere"},
		{"ln -s ../a b", "b<a"},
		{"ln -s ../a", "a"},
		{"ln -sfn a b", "b"},
		{"install -m 755 a bin/a", "bin/a<a"},
		{"install -Dm644 a -t bin", "bin/a"},
		{"touch a b", "a b"},
		{"touch -d yesterday a", "a"},
		{"touch -r a b", "b"},
		{"truncate -s 0 a", "a"},
		{"chmod +x a", "a"},
		{"chmod -x a", "a"},
		{"chmod 644 a b", "a b"},
		{"ls | tee -a a b", "a b"},
		{"dd if=/dev/zero of=a bs=1", "a"},
		{"sed -i 's/a/b/' a.go b.go c.go d.go e.go f.go", "a.go b.go c.go d.go e.go f.go"},
		{"sed -i.bak s/a/b/ a.go", "a.go"},
		{"sed -i '' 's/a/b/' a.go", "a.go"},
		{"sed -i -e 's/a/b/' -e s/c/d/ a.go b.go", "a.go b.go"},
		{"sed -Ei 's/a/b/' a.go", "a.go"},
		{"sed --in-place=.bak 's/a/b/' a.go", "a.go"},
		{"sed -n -i -f x.sed a.go", "a.go"},
		{"sed -i 's/a/b/' *.go", "under(.)"},
		{"sed -i 's/a/b/' $(grep -rl a src)", "anywhere"},
		{"perl -pi -e 's/a/b/' a.go b.go", "a.go b.go"},
		{"perl -i.bak -pe 's/a/b/' a.go", "a.go"},
		{"perl -0777 -i -pe 's/a/b/' a.go", "a.go"},
		{"perl -i -p x.pl a.go", "a.go"},
		{"perl -pe 's/a/b/' a.go", ""},
		{"ruby -i -pe 'x' a", "a"},
		{"gawk -i inplace '{print}' a.go", "a.go"},
		{"patch -p1 < x.diff", "anywhere"},
		{"gofmt -w .", ".<"},
		{"gofmt -l . && gofmt -d a.go", ""},
		{"gofmt -s -w a.go b.go", "a.go< b.go<"},
		{"goimports -local example.com/x -w a.go", "a.go<"},
		{"clang-format -style=file a.cc", ""},
		{"clang-format -style file -i a.cc", "a.cc<"},
		{"prettier --config x.json --write src", "src<"},
		{"black --check src", ""},
		{"black src", "src<"},
		{"yq -i '.a = 1' a.yml", "a.yml<"},
		{"yq '.a' a.yml", ""},
		{"ed -s a.go <<'E'\n1d\nw\nE", "a.go"},
		{"patch a.go x.diff", "a.go"},
		{"patch --dry-run -p1 < x.diff", ""},
		{"sort -o a a", "a"},
		{"curl -sSLo a https://example.com/", "a"},
		{"curl --output a https://example.com/", "a"},
		{"wget -qO- https://example.com/ | tar xz -C vendor", "under(vendor)"},
		{"wget -O a https://example.com/", "a"},
		{"tar xzf a.tgz", "under(.)"},
		{"tar -czf a.tgz src", "a.tgz"},
		{"unzip a.zip -d out", "under(out)"},
		{"rsync -a src/ dst/", "under(dst)"},
		{"rsync -a src/ host:dst/", ""},
		{"scp a host:b", ""},
		{"scp host:a b", "b<host:a"},
		{"rm a?", "under(.)"},
		{"rm *.o $X", "anywhere"},
		{"install -d a b", ""},
		{"rm \"a\\`b\\\"\\$c\\\\d\\e\"", "a`b\"$c\\d\\e"},
		{"rm " + strings.Repeat("{a,b}", 7), "under(.)"},
		{"rm 'a?'", "a?"},
		{"rm src/[ab].go", "under(src)"},
		{"rm src/!(a).go", "under(src)"},
		{"rm {a,b}/c.go", "a/c.go b/c.go"},
		{"rm '{a,b}'", "{a,b}"},
		{"rm x{1..3}", "under(.)"},
		{"rm {a}", "{a}"},
		{"rm /tmp/x*", "under(/tmp)"},
		{"rm \"$f\"", "anywhere"},
		{"rm -rf $DIRS a", "a anywhere"},
	},
	"prefixes": {
		{"env A=1 B=2 rm a", "a"},
		{"env -u X -i rm a", "a"},
		{"env -C sub rm a", "sub/a"},
		{"A=1 rm a", "a"},
		{"sudo rm a", "a"},
		{"sudo -u bob -- rm a", "a"},
		{"nohup rm a &", "a"},
		{"nice -n 5 rm a", "a"},
		{"timeout -k 5 10s rm a", "a"},
		{"stdbuf -oL tee a", "a"},
		{"command rm a", "a"},
		{"exec rm a", "a"},
		{"time -p rm a", "a"},
		{"flock /tmp/l rm a", "a"},
		{"sudo env A=1 nice rm a", "a"},
		{"bash -c 'rm a'", "a"},
		{"bash -lc \"cd sub && rm a\"", "sub/a"},
		{"sh -euc 'rm a' x y", "a"},
		{"bash -c \"bash -c 'rm a'\"", "a"},
		{"bash <<'EOF'\nrm a\nEOF", "a"},
		{"bash -s <<EOF && rm b\nrm a\nEOF", "a b"},
		{"cd sub && bash <<EOF\nrm a\nEOF\ncd ..", "sub/a"},
		{"bash <<< 'rm a'", "a"},
		{"bash script.sh", ""},
		{"eval 'rm a'", "a"},
		{"eval \"cd sub\"; rm a", "sub/a"},
		{"ls | xargs rm", "anywhere"},
		{"ls | xargs -n1 -P 4 sed -i s/a/b/", "anywhere"},
		{"ls | xargs -I{} cp {} dst/", "under(dst)"},
		{"ls | xargs -I F rm build/F", "under(build)"},
		{"find build -name '*.o' -delete", "under(build)"},
		{"find a b -type f -exec rm {} +", "under(a) under(b)"},
		{"find . -name x -exec sed -i s/a/b/ {} \\;", "under(.)"},
		{"find -name x -execdir mv {} {}.bak \\;", "under(.)"},
		{"find $d -delete", "anywhere"},
		{"find . -fprint list", "list"},
		{"find . -print0 | xargs -0 rm -f", "anywhere"},
	},
	"folders": {
		{"cd sub && rm a", "sub/a"},
		{"cd sub/../b; rm a", "b/a"},
		{"cd /tmp && rm a", "/tmp/a"},
		{"cd .. && rm a", "/home/u/a"},
		{"cd ../repo && rm a", "a"},
		{"cd sub && cd .. && rm a", "a"},
		{"cd sub && cd ../.. && rm a", "/home/u/a"},
		{"cd /home/u/repo && rm a", "a"},
		{"cd /home/u/repo/sub && rm a", "/home/u/repo/sub/a"},
		{"cd && rm a", "~/a"},
		{"cd ~/x && rm a", "~/x/a"},
		{"cd \"$X\" && rm a /b", "/b anywhere"},
		{"cd src/$X && rm a", "under(src)"},
		{"cd $(mktemp -d) && touch a && git init", "under(/tmp)"},
		{"(cd sub && rm a); rm b", "sub/a b"},
		{"cd sub | rm a", "a"},
		{"cd sub & rm a", "a"},
		{"cd sub || exit 1; rm a", "sub/a"},
		{"cd a || cd b; rm x", "anywhere"},
		{"pushd sub; rm a; popd; rm b", "sub/a b"},
		{"cd - && rm a", "anywhere"},
		{"if x; then cd sub; rm a; fi; rm b", "sub/a anywhere"},
		{"if x; then cd sub; rm a; else rm b; fi", "sub/a b"},
		{"{ cd sub; }; rm a", "sub/a"},
		{"for d in a b; do (cd $d && rm x); done", "a/x b/x"},
		{"for d in a b; do cd $d; rm x; cd ..; done", "anywhere"},
		{"echo $(cd sub; rm a); rm b", "sub/a b"},
		{"while x; do cd sub; rm a; done", "anywhere"},
		{"for d in .. a; do (cd $d && rm x); done", "anywhere"},
		{strings.Repeat("cd a;", 5000) + "rm x", "anywhere"},
		{"cd sub > log; rm a", "log sub/a"},
		{"cd -- sub && rm a", "sub/a"},
		{"cd -P sub && rm a", "sub/a"},
		{"cd '~x' && rm a", "anywhere"},
		{"cd sub && rm . -rf", "sub"},
	},
	"variables": {
		{"F=a.go; rm $F", "a.go"},
		{"F='a b'; rm \"$F\"", "a b"},
		{"F='a b'; rm $F", "anywhere"},
		{"F='*'; rm $F", "anywhere"},
		{"D=src\nrm ${D}/a \"$D/b\"", "src/a src/b"},
		{"F=a; F=b; rm $F", "b"},
		{"F=a; x && F=b; rm $F", "anywhere"},
		{"if x; then F=a; fi; rm $F", "anywhere"},
		{"F=a; (F=b; rm $F); rm $F", "b a"},
		{"F=a rm $F", "anywhere"},
		{"export F=a; rm $F", "a"},
		{"read F; rm $F", "anywhere"},
		{"F=a; read F; rm $F", "anywhere"},
		{"F=a; F+=b; rm $F", "anywhere"},
		{"F=~/x; rm $F/a", "~/x/a"},
		{"T=$(mktemp); echo > \"$T\"; mv \"$T\" a.go", "a.go< under(/tmp)"},
		{"F=a; unset F; rm $F", "anywhere"},
		{"i=0; ((i++)); rm x$i", "under(.)"},
		{"i=0; echo $((i++)); rm x$i", "under(.)"},
		{"F=a; : ${F:=b}; rm $F", "anywhere"},
		{"for f in a b; do rm $f $f.bak; done", "a a.bak b b.bak"},
		{"for f in a b; do mv $f new/$f; done", "a b new/a<a new/b<b"},
		{"for f in a b; do echo x > $f.txt; done", "a.txt b.txt"},
		{"for f in a b; do rm $f; done; rm $f", "a b anywhere"},
		{"for f in *.go; do rm $f; done", "anywhere"},
		{"for f in $(ls); do rm $f; done", "anywhere"},
		{"for f in {a,b}.go; do rm $f; done", "a.go b.go"},
		{"for a in 1 2; do for b in x y; do rm $a; done; done", "1 2"},
		{"for a in 1 2; do for b in x y; do rm $b; done; done", "anywhere"},
		{"for f; do rm $f; done", "anywhere"},
		{"for f in a b; do g=$f.bak; rm $g; done", "anywhere"},
		{"for f in a b; do bash -c \"rm $f\"; done", "a b"},
	},
	"git": {
		{"git status && git diff > x.diff", "x.diff"},
		{"git add -A && git commit -m 'rm a > b'", ""},
		{"git log --oneline | head", ""},
		{"git fetch && git push", ""},
		{"git checkout main", "tree(git checkout)"},
		{"git checkout -", "tree(git checkout)"},
		{"git checkout feature/x", "tree(git checkout)"},
		{"git checkout v1.2.3", "tree(git checkout)"},
		{"git checkout -b new", ""},
		{"git checkout -b new origin/main", "tree(git checkout)"},
		{"git checkout -f", "tree(git checkout)"},
		{"git checkout .", "tree(git checkout .)"},
		{"git checkout -- .", "tree(git checkout .)"},
		{"git checkout -- a b", "a b"},
		{"git checkout HEAD~1 -- a", "a"},
		{"git checkout HEAD~1 a.go", "a.go"},
		{"git checkout a.go b.go", "a.go b.go"},
		{"git checkout a.go", "a.go"},
		{"git checkout src/", "src/"},
		{"git checkout --theirs a", "a"},
		{"git checkout -- '*.go'", "under(.)"},
		{"git checkout -- :/", "tree(git checkout .)"},
		{"git checkout -- ':!x'", "anywhere"},
		{"git checkout", ""},
		{"git checkout $b", "tree(git checkout)"},
		{"git switch main", "tree(git switch)"},
		{"git switch -c new", ""},
		{"git switch -c new origin/main", "tree(git switch)"},
		{"git restore a b", "a b"},
		{"git restore .", "tree(git restore .)"},
		{"git restore --staged .", ""},
		{"git restore -SW a", "a"},
		{"git restore --source HEAD~1 a", "a"},
		{"cd sub && git restore .", "sub"},
		{"git reset", ""},
		{"git reset HEAD~1", ""},
		{"git reset --soft HEAD~1", ""},
		{"git reset --hard", "tree(git reset --hard)"},
		{"git reset --hard origin/main", "tree(git reset --hard)"},
		{"git reset --keep HEAD~1", "tree(git reset --keep)"},
		{"git clean -fdx", "tree(git clean)"},
		{"git clean -nfd", ""},
		{"git clean -fd build", "build"},
		{"git stash", "tree(git stash)"},
		{"git stash -u", "tree(git stash)"},
		{"git stash push -m 'x' -- a b", "a b"},
		{"git stash pop", "tree(git stash)"},
		{"git stash list", ""},
		{"git stash show -p stash@{0} > x.diff", "x.diff"},
		{"git rm -r a", "a"},
		{"git rm --cached a", ""},
		{"git mv a b", "a b<a"},
		{"git apply x.diff", "anywhere"},
		{"git apply --check x.diff", ""},
		{"git apply --cached x.diff", ""},
		{"git am x.mbox", "tree(git am)"},
		{"git merge main", "tree(git merge)"},
		{"git rebase -i main", "tree(git rebase)"},
		{"git pull --rebase", "tree(git pull)"},
		{"git cherry-pick abc", "tree(git cherry-pick)"},
		{"git revert HEAD", "tree(git revert)"},
		{"git bisect start", "tree(git bisect)"},
		{"git bisect log", ""},
		{"git -C ../other reset --hard", "tree(git reset --hard @ /home/u/other)"},
		{"git -C sub checkout -- a", "sub/a"},
		{"git -c core.x=1 --no-pager reset --hard", "tree(git reset --hard)"},
		{"cd /tmp/x && git reset --hard", "tree(git reset --hard @ /tmp/x)"},
		{"git -C $X reset --hard", "anywhere tree(git reset --hard)"},
		{"git reset --hard && git -C ../o clean -fd", "anywhere tree(git reset --hard)"},
		{"git worktree add ../x", ""},
		{"git worktree remove --force ../x", "../x"},
		{"git stash && git checkout main && git stash pop", "tree(git stash)"},
		{"git submodule update --init", "tree(git submodule)"},
	},
	// What guards of this kind were seen to miss, or to see where nothing is.
	"field": {
		{"git commit -m \"$(cat <<'EOF'\nrm a > b (it's \"so\" `x`\nEOF\n)\"", ""},
		{"git commit -m \"$(cat <<EOF\nrm a > b (x)\nEOF\n)\" && rm c", "c"},
		{"gh pr create --title \"a\" --body \"$(cat <<'EOF'\n## It\n- (a) don't > x\nEOF\n)\" 2>&1", ""},
		{"tmp=$(mktemp -d); trap 'rm -rf \"$tmp\"' EXIT; cp a.go \"$tmp/\"", "under(/tmp)"},
		{"jq '.a = 1' a.json > a.json.tmp && mv a.json.tmp a.json", "a.json.tmp a.json<a.json.tmp"},
		{"set -euo pipefail\nfor f in $(git ls-files '*.go'); do\n  gofmt -l \"$f\"\ndone", ""},
		{"while IFS= read -r f; do sed -i 's/a/b/' \"$f\"; done < list", "anywhere"},
		{"git ls-files -z | xargs -0 sed -i 's/a/b/'", "anywhere"},
		{"test -f a.go && echo yes || echo no > b.txt", "b.txt"},
		{"rm -f -- \"./-a\"", "./-a"},
		{"rm -f \"a\"*.log", "under(.)"},
		{"for f in a.go b.go c.go d.go e.go f.go; do sed -i 's/x/y/' $f; done", "a.go b.go c.go d.go e.go f.go"},
		{"sed -i 's/x/y/' one.go two.go three.go four.go five.go six.go seven.go", "one.go two.go three.go four.go five.go six.go seven.go"},
		{"cat <<'EOF' > src/app.rs\nfn main() {}\nEOF", "src/app.rs"},
		{"cat > src/a.ts << 'EOF' && npx tsc\nexport const x = `rm ${y}`;\nEOF", "src/a.ts"},
		{"rm a.go # mcp__safe", "a.go"},
		{"echo 'git commit' && rm a.go", "a.go"},
		{"tee a.go >/dev/null <<'X'\nrm b\nX", "a.go"},
		{"printf '%s\\n' x >> ./a.go", "./a.go"},
		{"cp /tmp/new.go src/a.go && rm -f /tmp/new.go", "/tmp/new.go src/a.go<new.go"},
		{"(cd ../.. && rm -rf repo)", "/home/repo"},
		{"ln -sf /etc/passwd a.go", "a.go<passwd"},
		{"mv -f \"src/with space.go\" 'src/o''ther.go'", "src/with space.go src/other.go<with space.go"},
		{"git checkout HEAD -- \"app/[id]/page.tsx\"", "under(app)"},
		{"rm 'app/[id]/page.tsx'", "app/[id]/page.tsx"},
		{"cd /home/u/repo/.claude/worktrees/x && git reset --hard HEAD", "tree(git reset --hard @ /home/u/repo/.claude/worktrees/x)"},
	},
}

func TestShellWrites(t *testing.T) {
	n := 0
	for name, cases := range shellCases {
		n += len(cases)
		t.Run(name, func(t *testing.T) {
			for _, c := range cases {
				if got := told(bash(t, c.command)); got != c.want {
					t.Errorf("%q writes\n got %s\nwant %s", c.command, got, c.want)
				}
			}
		})
	}
	t.Logf("%d commands", n)
}
