/**
 * The words that error messages of authorization servers, of Node and of Effect consist of. They are shown, and no others. Forms with
 * an ordinary ending are found by their stem.
 */
export const vocabulary = `
a abort about above absent accept acceptable access account across action activate active add addition additional address admin
administrator after again against agent algorithm alias all allow allowlist already also altname always among an and annotation
another answer any anyone api app apparently applicable application applied appropriate approve are argument as ask assertion
assign associate at attempt attribute aud audience auth authenticate authentication authenticator authority authorization
authorize available away backend bad base basic be bearer because become been before begin behalf being below between blank block
body both browser but by byte ca cache call caller can cancel cannot case cause cert certificate chain change channel character
check choose cipher claim class cli client close code collection combination come command common complete compromise confidential
configuration configure connect connection consent constant consult contact contain content context continue contract control
cookie copy correct could country create creation credential credit crl current custom data database date day dead deadline decode
decrypt default define delegate delete denied deny depend deprecate depth describe description destroy detail detect developer
device did differ different digest direct directory disable disconnect discover discovery dns do document documentation does doing
domain done down due duplicate during each eaddrnotavail eai early econnaborted econnrefused econnreset edit ehostdown
ehostunreach either email empty enable encode encounter end endless endpoint enetdown enetunreach enotfound ensure enter
enterprise entity entry environment eof epipe eproto err error establish etimedout even every example exceed exception exchange
execute exist expect expiration expire expiry explicit extend extension external fail failure fault feature fetch field file find
first flow follow for forbidden form format found from full function further gateway generate get getaddrinfo getting give given
go goes got grant group guide handle handshake hang has hash have header help here hidden hint hmac host hostname how hpe hsts
http id identified identifier identify identity idp if ignore illegal implement implicit in inactive include incomplete
inconsistent incorrect indicate individual info information inner input insecure inside instance instead insufficient integrity
intermediate internal into introspect invalid invoke ip is issue issuer it its json jwk jwt keep key kind know known last later
layer least leave length less level lib lifetime like limit link list load local localhost locate location lock log login long
longer look lookup made maintenance make malformed manage many map match maximum may me mean media member message method minimum
minute misconfigured mismatch missing mode modified modify module more most must mutual name need negotiate neither network never
new next no node nonce none nor not nothing notice notified now null number oauth object obtain occur occurred of off offline ok
old on once one onto open openid operation operator option optional or order organization origin other our out outside over
overflow own owner packet page pair param parameter parent parse part partner party password past path payload pending per
permission permit permitted person pkce place plain plan please policy port portal possible post premature present previous
principal private problem proceed process product production profile protect protocol prove provide provider provision proxy
public publisher purpose put queries query quota random range rate reach read reason receive recent recognize record redirect
reduce refer reference refresh refuse regenerate region register registration reissue reject related release reload remove renew
repeat replace replay reply report request require reset resolve resource respond response rest restrict result retried retries
retrieve retry return reuse revoke right role root rotate rule run same saml sandbox save say schema scheme scope score second
secret section secure security see seem segment select self send sent separate serial server service session set setting several
sha share should show sign signature similar simple simulate simulator since single site size slow so socket software some something soon source
specific specification specified specify spelling ssl standard start state status step still stop store stream string strong style
subject submit subscription success successful such suffix supplied supplies supply support suspend switch syntax system take
target tcp team temporarily temporary tenant terminate test text than that the their them then there these they third this those
throttle through throughput time timeout tls to together token too trace transient transport tries true trust try tunnel turn
twice two type unable unauthorized unavailable und under undici unexpected unhandled unique unknown unless unmatched unreachable
unrecognized unsupported until untrusted unusable up update upper upstream uri url use user username using valid validate
validation value variable vault verb verification verified verifies verify version via violate violation visit wait want warning
was way web well were what when where whether which while whitelist who whole whose will with within without word work would write
wrong wrote yet you your zero zone
`
