import { attribute, parseAttributes, readText, text, u32, u8 } from './attributes.ts'
import { addressFamily, decodeAddress, encodePrefix, familyOf } from './inet.ts'
import { InvalidNetlinkValueError } from './errors.ts'
import { routeProtocol, routeTable } from './numbers.ts'
import type { Family, Rule, RuleAction, RuleRequest } from './types.ts'

/** RTM_* of linux/rtnetlink.h. */
export const ruleMessageType = { created: 32, removed: 33, get: 34 } as const

/** FRA_* of linux/fib_rules.h. */
const fra = {
  destination: 1,
  source: 2,
  inputInterface: 3,
  priority: 6,
  mark: 10,
  table: 15,
  markMask: 16,
  outputInterface: 17,
  protocol: 21,
} as const

/** FIB_RULE_INVERT. */
const invertFlag = 2
const headerBytes = 12
const allBits = 0xffffffff

/** FR_ACT_* of linux/fib_rules.h, by number. */
const actions: readonly (RuleAction | undefined)[] = [
  undefined,
  'lookup',
  'goto',
  'nop',
  undefined,
  undefined,
  'blackhole',
  'unreachable',
  'prohibit',
]

export function encodeRuleList(family: Family): Buffer {
  const header = Buffer.alloc(headerBytes)
  header.writeUInt8(addressFamily[family], 0)
  return header
}

/** Fills in the defaults, so that a request and its listing compare equal. */
export function completeRule(request: RuleRequest): Rule {
  const { from, to, ...rest } = request
  const action = request.action ?? 'lookup'
  return {
    ...rest,
    ...(from === undefined || isEverything('from', from) ? {} : { from }),
    ...(to === undefined || isEverything('to', to) ? {} : { to }),
    action,
    table: request.table ?? (action === 'lookup' ? routeTable.main : 0),
    protocol: request.protocol ?? routeProtocol.static,
  }
}

export function encodeRule(rule: Rule): Buffer {
  const from = rule.from === undefined ? undefined : prefixOf('from', rule.from, rule.family)
  const to = rule.to === undefined ? undefined : prefixOf('to', rule.to, rule.family)
  const header = Buffer.alloc(headerBytes)
  header.writeUInt8(addressFamily[rule.family], 0)
  header.writeUInt8(to?.length ?? 0, 1)
  header.writeUInt8(from?.length ?? 0, 2)
  header.writeUInt8(rule.table < 256 ? rule.table : 0, 4)
  header.writeUInt8(actions.indexOf(rule.action), 7)
  header.writeUInt32LE(rule.not === true ? invertFlag : 0, 8)
  return Buffer.concat([
    header,
    attribute(fra.priority, u32(rule.priority)),
    attribute(fra.table, u32(rule.table)),
    attribute(fra.protocol, u8(rule.protocol)),
    ...(from === undefined ? [] : [attribute(fra.source, from.address)]),
    ...(to === undefined ? [] : [attribute(fra.destination, to.address)]),
    ...(rule.inputInterface === undefined ? [] : [attribute(fra.inputInterface, text(rule.inputInterface))]),
    ...(rule.outputInterface === undefined
      ? []
      : [attribute(fra.outputInterface, text(rule.outputInterface))]),
    ...(rule.mark === undefined
      ? []
      : [attribute(fra.mark, u32(rule.mark)), attribute(fra.markMask, u32(rule.markMask ?? allBits))]),
  ])
}

/** Reads a struct fib_rule_hdr and its attributes; `undefined` for families other than IPv4 and IPv6. */
export function parseRule(body: Buffer): Rule | undefined {
  const family = familyOf(body.readUInt8(0))
  if (family === undefined) return undefined
  const found = parseAttributes(body.subarray(headerBytes))
  const to = found.get(fra.destination)
  const from = found.get(fra.source)
  const input = found.get(fra.inputInterface)
  const output = found.get(fra.outputInterface)
  const mark = found.get(fra.mark)
  const markMask = found.get(fra.markMask)?.readUInt32LE(0) ?? allBits
  return {
    family,
    priority: found.get(fra.priority)?.readUInt32LE(0) ?? 0,
    action: actions[body.readUInt8(7)] ?? 'nop',
    table: found.get(fra.table)?.readUInt32LE(0) ?? body.readUInt8(4),
    protocol: found.get(fra.protocol)?.readUInt8(0) ?? 0,
    ...(from === undefined ? {} : { from: `${decodeAddress(from)}/${body.readUInt8(2)}` }),
    ...(to === undefined ? {} : { to: `${decodeAddress(to)}/${body.readUInt8(1)}` }),
    ...(input === undefined ? {} : { inputInterface: readText(input) }),
    ...(output === undefined ? {} : { outputInterface: readText(output) }),
    ...(mark === undefined ? {} : { mark: mark.readUInt32LE(0) }),
    ...(mark === undefined || markMask === allBits ? {} : { markMask }),
    ...((body.readUInt32LE(8) & invertFlag) === 0 ? {} : { not: true }),
  }
}

/** Whether two rules select and do the same. */
export function isSameRule(a: Rule, b: Rule): boolean {
  return encodeRule(a).equals(encodeRule(b))
}

/** Says a rule the way ip(8) does, for errors. */
export function describeRule(rule: RuleRequest): string {
  return `${rule.family} priority ${rule.priority} from ${rule.from ?? 'all'} to ${rule.to ?? 'all'}`
}

/** A prefix of length 0 selects everything, which the kernel lists as no selector at all. */
function isEverything(field: string, prefix: string): boolean {
  return encodePrefix(field, prefix).length === 0
}

function prefixOf(field: string, value: string, family: Family): { address: Buffer; length: number } {
  const prefix = encodePrefix(field, value)
  if (prefix.family === family) return prefix
  throw new InvalidNetlinkValueError({ field, value, expected: `a prefix of family ${family}` })
}
