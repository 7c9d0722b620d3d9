import { redactPlain } from './redact-plain.ts'
import { isSecretName, redacted } from './secret-names.ts'

/** Texts in objects in texts, and so on: nobody nests them deeper. */
const deepest = 8

/**
 * A text without what gives access to something: passwords, tokens and keys, however they are written. What of it is JSON, whole or in a
 * line, is looked through as the object that it is.
 */
export function redactText(text: string, depth = 0): string {
  if (depth > deepest) return redactPlain(text)
  const whole = redactJson(text, depth)
  if (whole !== undefined) return redactPlain(whole)
  const lines = text.split('\n').map((line) => {
    const [from, to] = [line.search(/[{[]/), Math.max(line.lastIndexOf('}'), line.lastIndexOf(']')) + 1]
    const within = from === -1 ? undefined : redactJson(line.slice(from, to), depth)
    return within === undefined ? line : `${line.slice(0, from)}${within}${line.slice(to)}`
  })
  return redactPlain(lines.join('\n'))
}

/** A text of JSON without secrets, which stays as it is laid out where it has none; nothing where it is no JSON. */
function redactJson(text: string, depth: number): string | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const before = JSON.stringify(value)
  const after = JSON.stringify(redactObject(value, depth + 1))
  return before === after ? text : after
}

/**
 * An object of the API, or rows of a database, without what gives access to something: values of variables, of fields, flags and
 * columns named so, all that a Secret holds, and what was last applied. Texts in it are looked through too, also those in Base64.
 */
export function redactObject(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactString(value, depth)
  if (Array.isArray(value)) return redactArray(value, depth)
  if (typeof value !== 'object' || value === null) return value
  const named = value as Readonly<Record<string, unknown>>
  const isVariable = 'value' in named && [named['name'], named['key']].some(isSecretName)
  const isSecret = isSecretObject(named)
  return Object.fromEntries(
    Object.entries(named)
      .filter(([key]) => key !== 'managedFields' && !key.endsWith('/last-applied-configuration'))
      .map(([key, content]) => {
        if (isSecret && (key === 'data' || key === 'stringData')) return [key, withoutContent(content)]
        const isHeld = isSecretName(key) || (isVariable && key === 'value')
        return [key, isHeld ? withoutScalars(content, depth) : redactObject(content, depth)]
      }),
  )
}

/** Lists of the API do not say the kind of what is in them, but Secrets have a type. */
function isSecretObject({ kind, type, data }: Readonly<Record<string, unknown>>): boolean {
  if (typeof kind === 'string') return kind === 'Secret'
  return (
    typeof data === 'object' &&
    typeof type === 'string' &&
    /^(?:Opaque$|kubernetes\.io\/|bootstrap\.kubernetes\.io\/|helm\.sh\/)/.test(type)
  )
}

function withoutContent(content: unknown): unknown {
  if (typeof content !== 'object' || content === null) return redacted
  return Object.fromEntries(Object.keys(content).map((key) => [key, redacted]))
}

/** References to Secrets are objects, and whether there is a token is a claim: neither is a secret itself. */
function withoutScalars(content: unknown, depth: number): unknown {
  if (content === '') return content
  if (typeof content === 'string' || typeof content === 'number') return redacted
  if (Array.isArray(content)) return content.map((item) => withoutScalars(item, depth))
  return redactObject(content, depth)
}

/** Command lines have the value of a flag behind it, rows of OVSDB that of a key. */
function redactArray(items: readonly unknown[], depth: number): readonly unknown[] {
  return items.map((item, index) => {
    const before = items[index - 1]
    const isTold =
      isSecretName(before) && (before.startsWith('-') || (items.length === 2 && typeof item === 'string'))
    return isTold ? withoutScalars(item, depth) : redactObject(item, depth)
  })
}

function redactString(text: string, depth: number): string {
  const decoded = textOfBase64(text)
  if (decoded !== undefined && redactText(decoded, depth + 1) !== decoded) return redacted
  return redactText(text, depth + 1)
}

/** What a text in Base64 says; nothing where it is none, or what is in it is no text. */
function textOfBase64(text: string): string | undefined {
  const bare = text.replaceAll(/\s/g, '')
  if (bare.length < 16 || !/^[\w+/-]+={0,2}$/.test(bare)) return undefined
  const decoded = Buffer.from(bare, 'base64').toString('utf8')
  return /[^\P{Cc}\s]|\uFFFD/u.test(decoded) ? undefined : decoded
}
