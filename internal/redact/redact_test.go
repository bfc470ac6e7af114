package redact_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/comity-dev/comity/internal/redact"
)

// Every secret of these tests is put together when they run, so that none stands
// in the source.
var (
	some   = strings.Repeat("aB3", 40)
	digits = strings.Repeat("7Q", 40)
	dashes = strings.Repeat("-", 5)
)

func pemOf(label, body string) string {
	return dashes + "BEGIN " + label + dashes + body + dashes + "END " + label + dashes
}

func header(label string) string { return dashes + "BEGIN " + label + dashes }

// gone wants the secret in text to be replaced by one mark of that name, and all
// around it to stay.
func gone(t *testing.T, before, secret, after, name string) {
	t.Helper()
	clean, found := redact.Text(before + secret + after)
	if want := before + "[redacted:" + name + "]" + after; clean != want || !slices.Equal(found, []string{name}) {
		t.Errorf("Text(%q)\n = %q, %q\nwant %q", before+secret+after, clean, found, want)
	}
}

// stays wants text to pass as it is.
func stays(t *testing.T, text string) {
	t.Helper()
	if clean, found := redact.Text(text); clean != text || found != nil {
		t.Errorf("Text(%q) = %q, %q, want it unchanged", text, clean, found)
	}
}

func TestKeysWithAPrefix(t *testing.T) {
	for _, tt := range []struct {
		name, prefix string
		least        int
	}{
		{"anthropic-key", "sk-" + "ant-", 16},
		{"openai-key", "sk-", 20},
		{"openai-key", "sk-" + "proj-", 15}, // with proj- it is 20
		{"github-token", "gh" + "p_", 20},
		{"github-token", "gh" + "o_", 20},
		{"github-token", "gh" + "u_", 20},
		{"github-token", "gh" + "s_", 20},
		{"github-token", "gh" + "r_", 20},
		{"github-pat", "github_" + "pat_", 20},
		{"slack-token", "xo" + "xa-", 10},
		{"slack-token", "xo" + "xb-", 10},
		{"slack-token", "xo" + "xp-", 10},
		{"slack-token", "xo" + "xr-", 10},
		{"slack-token", "xo" + "xs-", 10},
		{"stripe-key", "sk_" + "live_", 16},
		{"stripe-key", "sk_" + "test_", 16},
		{"stripe-key", "rk_" + "live_", 16},
		{"stripe-key", "rk_" + "test_", 16},
	} {
		secret, short := tt.prefix+some[:tt.least], tt.prefix+some[:tt.least-1]
		gone(t, "", secret, "", tt.name)
		gone(t, "", secret+some, "", tt.name)
		gone(t, "see ", secret, ", then", tt.name)
		stays(t, short)
		stays(t, short+" "+some)
		stays(t, "ta"+secret)
		stays(t, "9"+secret)
		stays(t, strings.ToUpper(tt.prefix)+secret[len(tt.prefix):])
		for _, edge := range []string{"\n", "\t", `"`, "'", "(", "=", ":", "/", ".", "-", "“", "密钥", `\n`, `\t`, `\u003d`, "%20", "%3D", "@", "\x1b"} {
			gone(t, "x"+edge, secret, `" y`, tt.name)
		}
		for _, word := range []string{`\x`, "%", "%2g", `\u00g0`, "_"} {
			stays(t, word+"a"+secret)
		}
	}
}

func TestKeysOfAnExactLength(t *testing.T) {
	for _, tt := range []struct {
		name, prefix, body string
	}{
		{"aws-access-key-id", "AK" + "IA", digits[:16]},
		{"aws-access-key-id", "AS" + "IA", digits[:16]},
		{"google-api-key", "AI" + "za", some[:30] + "-_" + some[:3]},
	} {
		gone(t, "", tt.prefix+tt.body, "", tt.name)
		gone(t, "id ", tt.prefix+tt.body, ".", tt.name)
		stays(t, tt.prefix+tt.body[1:])
		stays(t, tt.prefix+tt.body+"Z")
		stays(t, tt.prefix+tt.body+"_")
		stays(t, tt.prefix+tt.body+"z")
		stays(t, "x"+tt.prefix+tt.body)
	}
}

func TestNamesOfWorkAreNoKeys(t *testing.T) {
	for _, text := range []string{
		"", "task-" + some[:30], "risk-" + some[:30], "claim 4f2a9c/17 by " + strings.Repeat("0a", 16),
		"flask-sqlalchemy-and-more-things", "sk-", "sk", "s", "-", dashes, "Bearer", "password", "password:",
		"the bearer of this token is known to nobody else here",
		"bearer short", "forbearer " + some[:40],
		"password: short", "password = " + some[:15], "passwords: " + some[:40], "password_file=" + some[:40],
		"password " + some[:40], "the api key is in the vault", "api__key=" + some[:40],
		`password = os.Getenv("` + some[:40] + `")`, "password=[redacted:assignment]", "password: ${" + some[:20] + "}",
		"token=" + some[:40], "fencing token: " + some[:40], "SHA256:" + some[:43],
		header("CERTIFICATE") + "\n" + some, header("PUBLIC KEY") + some, pemOf("CERTIFICATE", "\n"+some+"\n"),
		dashes + "BEGIN PRIVATE KEY", dashes + "BEGIN private PRIVATE KEY" + dashes[1:], "BEGIN PRIVATE KEY" + dashes,
		"ünïcödé → \xff\xfe is left alone",
	} {
		stays(t, text)
	}
}

func TestPrivateKeysGoWithTheirBody(t *testing.T) {
	body := "\n" + some[:64] + "\n" + some[:64] + "\nab==\n"
	for _, label := range []string{"PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "EC PRIVATE KEY", "PGP PRIVATE KEY BLOCK"} {
		gone(t, "", pemOf(label, body), "", "private-key")
		gone(t, "key: |\n  ", pemOf(label, body), "\nnext: line\n", "private-key")
		gone(t, `{"key":"`, pemOf(label, strings.ReplaceAll(body, "\n", `\n`)), `\n"}`, "private-key")
		gone(t, "KEY='", pemOf(label, strings.ReplaceAll(body, "\n", " ")), "'", "private-key")
	}
	encrypted := "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n" + some[:64] + "\n"
	gone(t, "", pemOf("RSA PRIVATE KEY", encrypted), "", "private-key")
	gone(t, "", header("RSA PRIVATE KEY")+strings.TrimSuffix(encrypted, "\n"), "\n", "private-key")
}

func TestAPrivateKeyThatIsCutOffGoesAsFarAsItReaches(t *testing.T) {
	gone(t, "", header("PRIVATE KEY"), "", "private-key")
	gone(t, "a ", header("PRIVATE KEY"), " header in prose that goes on", "private-key")
	gone(t, "", header("PRIVATE KEY")+"\n"+some[:64]+"\n"+some[:20], "\nshort\n", "private-key")
	gone(t, "", header("PRIVATE KEY")+`\n`+some[:64]+`\r\n`+some[:64], `\n"`, "private-key")
	gone(t, "", header("PRIVATE KEY")+"\n> "+some[:64]+"\n> "+some[:64], "\n> thanks", "private-key")
	gone(t, "", pemOf("PRIVATE KEY", "\n"+some)[:len(header("PRIVATE KEY"))+1+len(some)+len(dashes+"END ")], "", "private-key")

	first := header("PRIVATE KEY") + "\n" + some[:64]
	clean, found := redact.Text(first + "\nand\n" + pemOf("EC PRIVATE KEY", "\n"+some+"\n") + "\nend")
	if want := "[redacted:private-key]\nand\n[redacted:private-key]\nend"; clean != want || len(found) != 2 {
		t.Errorf("Text of a cut key and a whole one = %q, %q, want %q", clean, found, want)
	}
}

func TestNothingSwallowsTheHeaderOfAPrivateKey(t *testing.T) {
	key := pemOf("PRIVATE KEY", "\n"+some+"\n")
	for _, before := range []string{"sk-" + some[:40], "password=" + some[:40], "password=", "Bearer " + some[:40], "xo" + "xb-" + some[:12]} {
		if clean, _ := redact.Text(before + key); strings.Contains(clean, some[:16]) {
			t.Errorf("Text(%q) = %q leaves a part of a key", before+key, clean)
		}
	}
}

func TestBearerTokens(t *testing.T) {
	token := some[:10] + "-._~+/" + some[:4]
	gone(t, "Authorization: ", "Bearer "+token, "", "bearer-token")
	gone(t, "authorization: ", "bearer  "+token+"==", "\r\n", "bearer-token")
	gone(t, `curl -H "Authorization: `, "Bearer "+token, `"`, "bearer-token")
	stays(t, "Bearer "+token[:19])
	stays(t, "Bearer"+token)
	gone(t, "Bearer ", "sk-"+"ant-"+some[:16]+"."+some, "", "anthropic-key")
	gone(t, "Bearer ", "xo"+"xb-"+some[:10], " x", "slack-token")
}

func TestAssignmentsKeepTheirName(t *testing.T) {
	for _, name := range []string{"api key", "apikey", "api_key", "API-KEY", "x-api-key", "access token", "accessToken", "ACCESS_TOKEN",
		"secret key", "secretKey", "password", "PASSWORD", "DB_PASSWORD", "passwd", "client_secret", "auth-token", "refreshToken"} {
		for _, sep := range []string{"=", ":", ": ", " = ", ":\t", `": "`, `\":\"`, "='", ` := "`, " => '", "==", ": `", ">", " :    "} {
			gone(t, name+sep, some[:16], "", "assignment")
			gone(t, "x "+name+sep, some[:30]+"/+=.!@#$%^*?:|~-_", "' y", "assignment")
			stays(t, name+sep+some[:15]+"' y")
		}
		gone(t, "?"+name+"=", some[:16], "&next=1", "assignment")
		gone(t, name+"=", "gh"+"p_"+some[:20]+"/tail", " x", "github-token")
		stays(t, name+"\n"+some[:40])
		stays(t, name+":\n"+some[:40])
		stays(t, name+"s = "+some[:40])
	}
	for _, name := range []string{"aws_secret_access_key", "AWS_SECRET_ACCESS_KEY", "SecretAccessKey", "secret access key", "aws.secretAccessKey", "AWS_SECRET_KEY", "awsSecretKey"} {
		gone(t, name+" = ", some[:38]+"/+", "\n", "aws-secret-access-key")
	}
	gone(t, "AWS Secret Access Key [None]: ", some[:40], "\n", "aws-secret-access-key")
	gone(t, "<SecretAccessKey>", some[:40], "</SecretAccessKey>", "aws-secret-access-key")
}

func TestAllAreFoundInOrder(t *testing.T) {
	text := "a AK" + "IA" + digits[:16] + " b password: " + some + " c " + pemOf("PRIVATE KEY", some) + " d AK" + "IA" + digits[:16]
	clean, found := redact.Text(text)
	want := "a [redacted:aws-access-key-id] b password: [redacted:assignment] c [redacted:private-key] d [redacted:aws-access-key-id]"
	if clean != want {
		t.Errorf("Text = %q, want %q", clean, want)
	}
	if diff := cmp.Diff([]string{"aws-access-key-id", "assignment", "private-key", "aws-access-key-id"}, found); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
}

// check wants what holds of every text.
func check(t interface {
	Errorf(string, ...any)
	Helper()
}, text string) {
	t.Helper()
	clean, found := redact.Text(text)
	again, more := redact.Text(clean)
	if again != clean || more != nil {
		t.Errorf("Text(%q) = %q, and of that %q, %q: not idempotent", text, clean, again, more)
	}
	if utf8.ValidString(text) && !utf8.ValidString(clean) {
		t.Errorf("Text(%q) = %q is not UTF-8", text, clean)
	}
	if (len(found) == 0) != (clean == text) {
		t.Errorf("Text(%q) = %q with %q found", text, clean, found)
	}
	for _, name := range found {
		if !strings.Contains(clean, "[redacted:"+name+"]") {
			t.Errorf("Text(%q) = %q has no mark of %s", text, clean, name)
		}
	}
}

// pieces are what secrets and their surroundings are made of, split where one
// thing may run into another.
var pieces = []string{
	"sk-", "ant-", "gh", "p_", "github_", "pat_", "AK", "IA", "AI", "za", "xo", "xb-", "sk_", "live_", "Bearer", "bearer ",
	"password", "api", "key", "secret", "access", "aws", "token", "=", ":", ">", " ", "\"", "'", "\\", "n", "\\n", "\n", "%3D", "%", "\\u003d", "_", "-", "/",
	"[None]", "[redacted:", "]", "aB3aB3aB3aB3aB3a", "7Q7Q7Q7Q7Q7Q7Q7Q", "aaa", "Z", "ü", "\xff",
	"-----", "-----BEGIN ", "PRIVATE KEY", "-----END ", " BLOCK", "Proc-Type: x",
}

func TestTextOfPiecesIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		check(t, strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 24).Draw(t, "pieces"), ""))
	})
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{"", "sk-" + some, "password=\"" + some, pemOf("PRIVATE KEY", "\n"+some+"\n"), header("PRIVATE KEY") + `\n` + some,
		"Bearer " + some, "%3DAK" + "IA" + digits[:16], "aws_secret_access_key [None]: " + some} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { check(t, text) })
}

// worst are texts in which every place looks like the start of something.
func worst(n int) map[string]string {
	repeat := func(s string) string { return strings.Repeat(s, n/len(s)) }
	return map[string]string{
		"prefixes":           repeat("sk-"),
		"prefixes of words":  repeat(" sk-ant-aB3aB3aB3aB3aB"),
		"exact keys":         repeat(" AI" + "za" + some[:34]),
		"names":              repeat("password="),
		"names with blanks":  repeat("password" + strings.Repeat(" ", 60)),
		"names with headers": repeat("password=" + dashes + "BEGIN"),
		"bearers":            repeat("bearer "),
		"headers":            repeat(header("PRIVATE KEY")),
		"headers and lines":  repeat(header("PRIVATE KEY") + "\n" + some[:16] + "\nx"),
		"headers and rules":  header("PRIVATE KEY") + repeat("-"),
		"other headers":      repeat(header("PRIVATE KEY") + " x " + dashes + "BEGIN "),
		"footers":            repeat(dashes + "END "),
		"rules":              repeat("-"),
		"blanks":             header("PRIVATE KEY") + repeat(" "),
		"one value":          "password=" + repeat("a"),
		"escapes":            repeat(`\n`),
	}
}

// Thirty-two times the text takes about thirty-two times as long; a quadratic look
// would take a thousand times. A busy machine only ever adds to a time, so what
// counts is the least of many looks, and the bar is far from both.
func TestTimeIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("measures time")
	}
	const small, factor, bar, looks = 1 << 15, 32, 320, 50
	took := func(text string) time.Duration {
		start := time.Now()
		redact.Text(text)
		return time.Since(start)
	}
	large := worst(factor * small)
	for name, text := range worst(small) {
		a := max(took(text), 40*time.Microsecond)
		b := took(large[name])
		for n := 1; n < looks && b > bar*a; n++ {
			b = min(b, took(large[name]))
		}
		if b > bar*a {
			t.Errorf("%s: %d bytes take %v, %d bytes %v at the least of %d", name, len(text), a, len(large[name]), b, looks)
		}
	}
}

func BenchmarkText(b *testing.B) {
	for _, bb := range []struct{ name, text string }{
		{"prose", strings.Repeat("The session claims internal/redact and its tests; passing is a requirement.\n", 400)},
		{"secrets", strings.Repeat("password: "+some+"\n", 250)},
		{"worst", worst(1 << 15)["prefixes of words"]},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(int64(len(bb.text)))
			for b.Loop() {
				redact.Text(bb.text)
			}
		})
	}
}
