/** Stands where a secret was. */
const redacted = '(left out)'

const secretName = /pass(word|wd|phrase)?$|secret|token|psk|private.?key|credential|api.?key|^authorization$/i
/** `password=x`, `"token": "x"`, `Authorization: Bearer x` in the middle of a text. */
const secretInText =
  /((?:pass(?:word|wd|phrase)|secret|token|psk|private.?key|credential|api.?key)["']?\s*[=:]\s*["']?|bearer\s+)([^\s"',;}]+)/gi
const pemBlock = /-----BEGIN ([A-Z ]*PRIVATE KEY)-----[\s\S]*?(?:-----END \1-----|$)/g
/** Three parts of Base64url, of which the first two are JSON. */
const webToken = /\beyJ[\w-]+\.eyJ[\w-]+\.[\w-]*/g

/** A text without what gives access to something. */
export function redactText(text: string): string {
  return text
    .replaceAll(pemBlock, `-----BEGIN $1----- ${redacted}`)
    .replaceAll(webToken, redacted)
    .replaceAll(secretInText, `$1${redacted}`)
}

/** An object of the API without what gives access to something: values of variables, of fields named so, and what was last applied. */
export function redactObject(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value)
  if (Array.isArray(value)) return value.map(redactObject)
  if (typeof value !== 'object' || value === null) return value
  const named = value as Readonly<Record<string, unknown>>
  const isVariable = typeof named['name'] === 'string' && typeof named['value'] === 'string'
  return Object.fromEntries(
    Object.entries(named)
      .filter(([key]) => key !== 'managedFields' && !key.endsWith('/last-applied-configuration'))
      .map(([key, content]) => [
        key,
        isSecret(key, content) || (isVariable && key === 'value' && secretName.test(String(named['name'])))
          ? redacted
          : redactObject(content),
      ]),
  )
}

/** References to Secrets are objects, and no secrets themselves. */
function isSecret(key: string, content: unknown): boolean {
  return secretName.test(key) && typeof content === 'string' && !/name$/i.test(key)
}
