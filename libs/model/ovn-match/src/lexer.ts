import { isIpv4, tryParseIp } from '@kube-ovn/ip'

/** A word of a match expression. */
export type Token =
  | { readonly kind: 'end' | 'symbol' | 'name' | 'string' | 'set' | 'group'; readonly text: string }
  | NumberToken

/** A constant that is compared with a field of a packet. */
export interface NumberToken {
  readonly kind: 'number'
  readonly text: string
  readonly format: NumberFormat
  readonly value: bigint
  /** Bits that it takes at least: all of an address, of another number those up to the first that is set. */
  readonly width: number
  readonly isMasked: boolean
}

type NumberFormat = 'decimal' | 'hexadecimal' | 'ipv4' | 'ipv6' | 'ethernet'

/** Says that a text is no expression: what was found, and what should be there. */
export class MatchSyntax extends Error {
  readonly cure: string

  constructor(cure: string) {
    super(cure)
    this.cure = cure
  }
}

const symbols = ['==', '!=', '<=', '>=', '&&', '||', '..', '(', ')', '{', '}', '[', ']', '<', '>', '!', ',']
const space = /[ \t\n\r\v\f]*/y
const name = /[a-zA-Z_.][a-zA-Z_.0-9]*/y
/** Addresses of Ethernet and IPv6 may begin with a letter; no name goes on with a colon. */
const beginsNumber = /[0-9]|::|[0-9a-fA-F]+:/y
const quoted = /"(?:[^"\\]|\\.)*"/sy

/** Splits an expression into words as OVN does. @see lib/lex.c of OVN */
export class Lexer {
  readonly #input: string
  #next = 0
  /** The word that is looked at. */
  token: Token

  /** @throws MatchSyntax as every step may */
  constructor(input: string) {
    this.#input = input
    this.token = this.#read()
  }

  /** Goes on to the next word, and answers with the one before. */
  take(): Token {
    const before = this.token
    this.token = this.#read()
    return before
  }

  /** Goes on if the word is this symbol. */
  accept(symbol: string): boolean {
    const isIt = this.token.kind === 'symbol' && this.token.text === symbol
    if (isIt) this.take()
    return isIt
  }

  /** Whether the word after this one is an opening parenthesis. */
  isCall(): boolean {
    return this.#input[this.#after(space, this.#next)] === '('
  }

  #read(): Token {
    const start = this.#after(space, this.#next)
    const token = this.#tokenAt(start)
    this.#next = start + token.text.length
    return token
  }

  #tokenAt(start: number): Token {
    const input = this.#input
    const first = input[start]
    if (first === undefined) return { kind: 'end', text: '' }
    if (first === '"') return stringAt(textAt(quoted, input, start))
    if (first === '$' || first === '@') {
      const text = textAt(name, input, start + 1)
      if (text === undefined) throw new MatchSyntax(`write a name after ${first}`)
      return { kind: first === '$' ? 'set' : 'group', text: `${first}${text}` }
    }
    if (textAt(beginsNumber, input, start) !== undefined) return numberAt(input, start)
    const symbol = symbols.find((text) => input.startsWith(text, start))
    if (symbol !== undefined) return { kind: 'symbol', text: symbol }
    const word = textAt(name, input, start)
    if (word !== undefined) return { kind: 'name', text: word }
    // What stands behind a comment is OVN's own part of a flow.
    const rest = JSON.stringify(input.slice(start, start + 2))
    throw new MatchSyntax(`remove ${rest}: it is neither a name, nor a number, a string or an operator`)
  }

  #after(pattern: RegExp, from: number): number {
    return from + (textAt(pattern, this.#input, from)?.length ?? 0)
  }
}

function textAt(pattern: RegExp, input: string, start: number): string | undefined {
  pattern.lastIndex = start
  return pattern.exec(input)?.[0]
}

function stringAt(text: string | undefined): Token {
  if (text === undefined) throw new MatchSyntax('close the string that is open at the end')
  try {
    JSON.parse(text)
  } catch {
    throw new MatchSyntax(`write the string ${text} as in JSON`)
  }
  return { kind: 'string', text }
}

/** Dots and colons are part of addresses, but for a range of bits and for what follows a dot. */
const numberForm = /(?:[0-9a-zA-Z:]|\.(?!\.))*?(?=\.\.|[^0-9a-zA-Z:.]|$)/y

function numberAt(input: string, start: number): NumberToken {
  const text = textAt(numberForm, input, start) ?? ''
  const number = readNumber(text)
  if (input[start + text.length] !== '/') return number
  const maskText = textAt(numberForm, input, start + text.length + 1) ?? ''
  const whole = `${text}/${maskText}`
  return {
    ...number,
    text: whole,
    width: widthOf(maskOf(number, readNumber(maskText), whole)),
    isMasked: true,
  }
}

function readNumber(text: string): NumberToken {
  const read = (format: NumberFormat, value: bigint, width = widthOf(value)): NumberToken => ({
    ...{ kind: 'number', text, format, value, width, isMasked: false },
  })
  if (/^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$/i.test(text))
    return read('ethernet', BigInt(`0x${text.replaceAll(':', '')}`), 48)
  if (/^(?:0|[1-9][0-9]*)$/.test(text)) {
    if (BigInt(text) >= 2n ** 64n) throw new MatchSyntax(`write a number below 2^64 in place of ${text}`)
    return read('decimal', BigInt(text))
  }
  if (/^0x[0-9a-f]+$/i.test(text)) {
    if (widthOf(BigInt(text)) > mostBits) throw new MatchSyntax(`write at most ${mostBits} bits, not ${text}`)
    return read('hexadecimal', BigInt(text))
  }
  const ip = tryParseIp(text)
  if (ip === undefined)
    throw new MatchSyntax(
      `write a decimal or hexadecimal number, or an IP or MAC address, in place of ${text || 'nothing'}`,
    )
  return isIpv4(ip) ? read('ipv4', BigInt(ip), 32) : read('ipv6', BigInt(ip), 128)
}

/** Of the constants of an expression (`union mf_subvalue`). */
const mostBits = 1024

function widthOf(value: bigint): number {
  return value === 0n ? 0 : value.toString(2).length
}

function maskOf(number: NumberToken, mask: NumberToken, whole: string): bigint {
  if (number.format === mask.format) return mask.value
  const bits = number.format === 'ipv4' ? 32 : number.format === 'ipv6' ? 128 : undefined
  if (bits !== undefined && mask.format === 'decimal' && mask.value <= BigInt(bits))
    return (2n ** mask.value - 1n) << BigInt(bits - Number(mask.value))
  if (number.text === '0' && mask.format === 'hexadecimal') return mask.value
  throw new MatchSyntax(`write a mask of the same form as the number before it, or a prefix length: ${whole}`)
}
