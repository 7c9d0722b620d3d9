import type { Expression, NatFlag, Operator, PayloadField, SetElement, Statement } from './types.ts'

/** The statements that rules of this project are made of. Each does what nft(8) says of the words beside it. */

/** `ip saddr VALUE`, `tcp dport VALUE`, … */
export function payload(field: PayloadField, value: Expression, op: Operator = '=='): Statement {
  return { match: { op, left: { payload: field }, right: value } }
}

/** Names a set of the same table, as the right side of a match. */
export function named(set: string): string {
  return `@${set}`
}

/** `{ A, B }`: a set without a name. */
export function oneOf(...elements: SetElement[]): Expression {
  return { set: elements }
}

/** `meta mark VALUE`, or `meta mark & MASK == VALUE`. */
export function mark(value: number, mask?: number): Statement {
  const key: Expression = { meta: { key: 'mark' } }
  return { match: { op: '==', left: mask === undefined ? key : { '&': [key, mask] }, right: value } }
}

/** `iifname NAME` */
export function inputInterface(name: string): Statement {
  return { match: { op: '==', left: { meta: { key: 'iifname' } }, right: name } }
}

/** `oifname NAME` */
export function outputInterface(name: string): Statement {
  return { match: { op: '==', left: { meta: { key: 'oifname' } }, right: name } }
}

/** `ct state A,B` */
export function connectionState(
  ...states: ('new' | 'established' | 'related' | 'invalid' | 'untracked')[]
): Statement {
  return { match: { op: 'in', left: { ct: { key: 'state' } }, right: states } }
}

/** `tcp flags & (MASK) == VALUE`, such as a SYN without ACK. */
export function tcpFlags(mask: readonly string[], value: readonly string[]): Statement {
  return {
    match: {
      op: '==',
      left: { '&': [{ payload: { protocol: 'tcp', field: 'flags' } }, bits(mask)] },
      right: bits(value),
    },
  }
}

/** `meta mark set VALUE` */
export function setMark(value: number): Statement {
  return { mangle: { key: { meta: { key: 'mark' } }, value } }
}

/** `meta mark set meta mark | BITS` */
export function addMark(markBits: number): Statement {
  return {
    mangle: { key: { meta: { key: 'mark' } }, value: { '|': [{ meta: { key: 'mark' } }, markBits] } },
  }
}

/** `masquerade FLAGS` */
export function masquerade(...flags: NatFlag[]): Statement {
  return { masquerade: flags.length === 0 ? null : { flags } }
}

/** `snat FAMILY to ADDRESS FLAGS` */
export function sourceNat(family: 'ip' | 'ip6', address: string, ...flags: NatFlag[]): Statement {
  return { snat: { family, addr: address, ...(flags.length === 0 ? {} : { flags }) } }
}

/** `ether daddr set MAC` */
export function setDestinationMac(mac: string): Statement {
  return { mangle: { key: { payload: { protocol: 'ether', field: 'daddr' } }, value: mac } }
}

/** `fwd to LINK` */
export function forwardBy(link: string): Statement {
  return { fwd: { dev: link } }
}

export const counter: Statement = { counter: null }
export const accept: Statement = { accept: null }
export const drop: Statement = { drop: null }
/** `return`: leaves the chain. */
export const leave: Statement = { return: null }

export function jump(target: string): Statement {
  return { jump: { target } }
}

export function goto(target: string): Statement {
  return { goto: { target } }
}

function bits(flags: readonly string[]): Expression {
  const [first, ...rest] = flags
  if (first === undefined) return 0
  return rest.length === 0 ? first : flags
}
