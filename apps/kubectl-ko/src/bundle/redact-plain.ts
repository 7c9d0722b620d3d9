import { redacted, secretWords } from './secret-names.ts'

/** Names and words are no longer than this: what goes on longer is not looked through again and again. */
const most = 200
const name = String.raw`[\w./-]{0,${most}}`
const words = `(?:${secretWords})`
/** Of a text in a text, quotes have backslashes before them. */
const quote = String.raw`\\{0,15}["']`

/**
 * What comes before a secret. Its value begins where a match ends: in quotes, up to the next blank, or up to the end of the line where a
 * blank is before it.
 */
const introductions: readonly RegExp[] = [
  // password=x, "token": "x", Authorization: Bearer x, psk: x
  new RegExp(String.raw`${words}(?:${quote})?[ \t]{0,8}(?:=>|:=|[:=])`, 'gi'),
  // { "name": "BGP_PASSWORD", "value": "x" }, and the same as YAML
  new RegExp(
    String.raw`\b(?:name|key)(?:${quote})?[ \t]{0,8}[:=][ \t]{0,8}(?:${quote})?${name}${words}(?:${quote})?[,\s]{1,80}(?:${quote})?value(?:${quote})?[ \t]{0,8}[:=]`,
    'gi',
  ),
  // ["psk", "x"], ["--auth-password", "x"]
  new RegExp(String.raw`["']${name}${words}${quote}[ \t]{0,8},\s{0,40}(?=\\{0,15}["'])`, 'gi'),
  // --auth-password x, also on the next line of a list
  new RegExp(
    String.raw`(?<![\w-])--?[a-z]${name}${words}(?:["']?\s{0,40}\n[ \t]{0,80}-[ \t]{1,8}|[ \t]{1,8}(?!-))`,
    'gi',
  ),
  // password "x"; PSK 0sx
  new RegExp(String.raw`${words}[ \t]{1,8}(?=\\{0,15}["']|0[sx]\w)`, 'gi'),
  // neighbor 192.0.2.1 password x; password x
  /\bneighbor \S{1,100} password (?:\d )?/gi,
  /^[ \t]{0,40}(?:enable )?password[ \t]{1,8}(?:\d )?(?=\S{1,200}[ \t]{0,8}$)/gim,
  /\bbearer[ \t]{1,8}/gi,
  // Of HTTP; those of flows have an equals sign.
  /\bcookie:/gi,
  // curl -u user:x
  /\s(?:-u|--(?:proxy-)?user)[ =]["']?[^\s:"']{1,100}:/g,
]

/** A text that is no object, without what gives access to something. */
export function redactPlain(text: string): string {
  const bare = withoutSecretsOfYaml(withoutPrivateKeys(text))
  return introductions
    .reduce(withoutValues, bare)
    .replaceAll(/\beyJ[\w-]{8,4000}(?:\.[\w-]{0,8000}){2,4}/g, redacted)
    .replaceAll(/\b(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-|npm_|sk_live_)[\w-]{16,255}/g, redacted)
    .replaceAll(/\b(basic[ \t]{1,8})([\w+/-]{6,4000}={0,2})/gi, (found, before: string, value: string) =>
      Buffer.from(value, 'base64').includes(':') ? `${before}${redacted}` : found,
    )
    .replaceAll(
      /(\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s"'<>@/:]{0,200}:)[^\s"'<>]{1,400}@(?!sha\d)/gi,
      `$1${redacted}@`,
    )
    .replaceAll(/(\b[a-z][a-z0-9+.-]{0,30}:\/\/)[^\s"'<>@/:]{16,200}@(?!sha\d)/gi, `$1${redacted}@`)
}

/** A key in PEM is no longer. */
const mostOfKey = 20_000
const keyBegins = /-----BEGIN ([A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)-----/g

/** Of a key that is cut off, what may be of it goes. */
function withoutPrivateKeys(text: string): string {
  return replaceFrom(text, keyBegins, (start, [begin, kind = '']) => {
    const end = `-----END ${kind}-----`
    const near = text.slice(start, start + mostOfKey)
    if (near.startsWith(` ${redacted}`)) return undefined
    const length = near.indexOf(end)
    const body =
      length === -1 ? (/^(?:[A-Za-z0-9+/=\s]|\\[nr])*/.exec(near)?.[0].length ?? 0) : length + end.length
    return { end: start + body, instead: `${begin} ${redacted}` }
  })
}

/** All that Secrets hold, which may have any name. */
function withoutSecretsOfYaml(text: string): string {
  if (!/^[ \t-]{0,200}["']?kind["']?:[ \t]{0,8}["']?Secret\b/m.test(text)) return text
  return text.replaceAll(
    /^([ \t]*)((?:data|stringData):)[ \t]*\n(?:\1[ \t]+[^\n]*\n?)+/gm,
    (_all, indent: string, key: string) => `${indent}${key} ${redacted}\n`,
  )
}

function withoutValues(text: string, introduction: RegExp): string {
  return replaceFrom(text, introduction, (start, [before]) => {
    const end = endOfValue(text, start, before)
    const value = text.slice(start, end).trim()
    const blank = /^\s*/.exec(text.slice(start, end))?.[0] ?? ''
    const isNone = /^(?:(?:true|false|null|none|nil|undefined|""|''|\\+"\\+"|)[\]},\s]*|\{.*)$/i.test(value)
    if (isNone || text.startsWith(redacted, start + blank.length)) return undefined
    const [opened = ''] = /^\\*["']/.exec(value) ?? []
    const closed = opened !== '' && value.length > opened.length && value.endsWith(opened) ? opened : ''
    return { end, instead: `${before}${blank}${opened}${redacted}${closed}` }
  })
}

/** Where a value ends that begins at `start`, or with the blanks there. */
function endOfValue(text: string, start: number, before: string): number {
  const isAfterSeparator = /[:=]$/.test(before)
  const [blank = ''] = /^[ \t]{0,80}/.exec(text.slice(start, start + 80)) ?? []
  const from = start + blank.length
  const [opened] = /^\\{0,15}["']/.exec(text.slice(from, from + 16)) ?? []
  const line = lineEnd(text, from)
  if (opened !== undefined) {
    const end = endOfQuoted(text, from + opened.length, opened)
    // Quotes that are part of a value without quotes are followed by more of it, or are not those of its name.
    const isWhole = /^(?:[\s,;:)\]}]|$)/.test(text.slice(end, end + 1))
    return isWhole && (opened.length === 1 || before.includes(opened)) ? end : Math.max(end, line)
  }
  const first = text.slice(from, Math.min(line, from + 8)).trim()
  if (isAfterSeparator && (first === '' || /^[|>][+-]?\d?$/.test(first)))
    return endOfBlock(text, start, line, first)
  if (text[from] === '{') return from
  if (isAfterSeparator && blank !== '') return endOfBlock(text, start, line, '')
  const within = text.slice(from, line)
  const length = within.search(/\s|["'](?=[,\]}\s:;)]|$)/)
  return length === -1 ? line : from + length
}

/** Up to the same quotes, with as many backslashes before them; to the end of the line where there are none. */
function endOfQuoted(text: string, start: number, opened: string): number {
  const [depth, mark] = [opened.length - 1, opened.at(-1) ?? '"']
  let backslashes = 0
  for (let index = start; index < text.length; index++) {
    const one = text[index]
    if (one === '\\') {
      backslashes++
      continue
    }
    if (one === mark && backslashes <= depth) {
      // In quotes of its own kind YAML doubles this one.
      if (mark !== "'" || depth > 0 || text[index + 1] !== "'") return index + 1
      index++
    }
    if (one === '\n' && depth > 0) return index
    backslashes = 0
  }
  return lineEnd(text, start)
}

/** Lines of YAML that are further in than the one with the key: all of a block, or those of a plain value. */
function endOfBlock(text: string, start: number, line: number, first: string): number {
  const beginning = text.lastIndexOf('\n', start - 1) + 1
  const indent =
    /^[ \t]*(?:- )*/.exec(text.slice(beginning, Math.min(start, beginning + most)))?.[0].length ?? 0
  let end = line
  while (end < text.length) {
    const next = lineEnd(text, end + 1)
    const own = text.slice(end + 1, next)
    const isWithin = own.trim() === '' || own.search(/\S/) > indent
    if (!isWithin) break
    // A map, or a list, is no value itself.
    if (first === '' && /^\s*(?:- |["']?[\w./-]+["']?:(?:\s|$))/.test(own)) break
    end = next
  }
  return text.slice(line, end).trim() === '' ? line : end
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end === -1 ? text.length : end
}

/** Puts something in the place of what is found and what follows it up to an end; keeps it where there is nothing to put. */
function replaceFrom(
  text: string,
  what: RegExp,
  replacement: (
    start: number,
    found: RegExpExecArray,
  ) => { readonly end: number; readonly instead: string } | undefined,
): string {
  const pattern = new RegExp(what.source, what.flags)
  let [kept, done] = ['', 0]
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const next = replacement(pattern.lastIndex, found)
    if (next === undefined) continue
    kept += text.slice(done, found.index) + next.instead
    done = Math.max(next.end, pattern.lastIndex)
    pattern.lastIndex = done
  }
  return kept + text.slice(done)
}
