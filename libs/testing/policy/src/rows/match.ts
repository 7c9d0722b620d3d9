import { contains, parseCidr, parseIp, type Cidr, type Ip } from '@kube-ovn/ip'

/** A packet as matches see it. */
export interface MatchedPacket {
  readonly inport: string | undefined
  readonly outport: string | undefined
  readonly family: 4 | 6
  readonly source: string
  readonly destination: string
  readonly protocol: 'tcp' | 'udp' | 'sctp' | 'icmp'
  readonly sourcePort: number
  readonly destinationPort: number
}

/** What names in matches stand for. */
export interface MatchNames {
  isInGroup(group: string, port: string | undefined): boolean
  addressesOf(set: string): readonly string[] | undefined
}

type Test = (packet: MatchedPacket, names: MatchNames) => boolean

const known = new Map<string, Test>()

/** Whether a packet meets a match, of those expressions that policies make. @throws for any other */
export function meetsMatch(text: string, packet: MatchedPacket, names: MatchNames): boolean {
  let test = known.get(text)
  if (test === undefined) known.set(text, (test = new Reader(text).read()))
  return test(packet, names)
}

const word = /\s*(&&|\|\||==|!=|<=|[(){},]|"[^"]*"|[$@]?[A-Za-z0-9_.:/]+)/y

class Reader {
  readonly #text: string
  readonly #words: string[] = []
  #at = 0

  constructor(text: string) {
    this.#text = text
    word.lastIndex = 0
    for (let match = word.exec(text); match !== null; match = word.exec(text))
      this.#words.push(match[1] ?? '')
    if (this.#words.join('') !== text.replaceAll(/\s/g, '')) throw new Error(`no match of policies: ${text}`)
  }

  read(): Test {
    const test = this.#expression()
    if (this.#at !== this.#words.length) this.#fail()
    return test
  }

  #expression(): Test {
    const tests = [this.#term()]
    const operator = this.#words[this.#at]
    if (operator === '&&' || operator === '||')
      while (this.#words[this.#at] === operator) {
        this.#at++
        tests.push(this.#term())
      }
    // OVN has no precedence between them.
    if (['&&', '||'].includes(this.#words[this.#at] ?? '')) this.#fail()
    if (tests.length === 1 && tests[0] !== undefined) return tests[0]
    return operator === '||'
      ? (packet, names) => tests.some((test) => test(packet, names))
      : (packet, names) => tests.every((test) => test(packet, names))
  }

  #term(): Test {
    const first = this.#take()
    if (first === '(') {
      const test = this.#expression()
      if (this.#take() !== ')') this.#fail()
      return test
    }
    if (/^\d+$/.test(first)) return this.#range(Number(first))
    const operator = this.#words[this.#at]
    if (operator !== '==' && operator !== '!=') return predicate(first) ?? this.#fail()
    this.#at++
    return comparison(first, operator, this.#values()) ?? this.#fail()
  }

  #range(from: number): Test {
    if (this.#take() !== '<=') this.#fail()
    const field = this.#take()
    if (this.#take() !== '<=') this.#fail()
    const to = Number(this.#take())
    const numberOf = numberField(field) ?? this.#fail()
    return (packet) => {
      const number = numberOf(packet)
      return number !== undefined && from <= number && number <= to
    }
  }

  #values(): readonly string[] {
    const first = this.#take()
    if (first !== '{') return [first]
    const values: string[] = []
    for (let next = this.#take(); next !== '}'; next = this.#take()) if (next !== ',') values.push(next)
    return values
  }

  #take(): string {
    const next = this.#words[this.#at++]
    return next ?? this.#fail()
  }

  #fail(): never {
    throw new Error(`no match of policies, at word ${this.#at}: ${this.#text}`)
  }
}

function predicate(name: string): Test | undefined {
  switch (name) {
    case 'ip':
      return () => true
    case 'ip4':
    case 'ip6':
      return ({ family }) => name === `ip${family}`
    case 'tcp':
    case 'udp':
    case 'sctp':
      return ({ protocol }) => protocol === name
    case 'icmp4':
    case 'icmp6':
      return ({ protocol, family }) => protocol === 'icmp' && name === `icmp${family}`
    case 'arp':
      return () => false
    default:
      return undefined
  }
}

const icmpEcho = { 4: 8, 6: 128 } as const
const protocolNumbers = { tcp: 6, udp: 17, sctp: 132 } as const

/** A field that holds a number, where the packet has it. */
function numberField(field: string): ((packet: MatchedPacket) => number | undefined) | undefined {
  const [header = '', part] = field.split('.')
  if (header === 'tcp' || header === 'udp' || header === 'sctp')
    return ({ protocol, sourcePort, destinationPort }) =>
      protocol !== header ? undefined : part === 'src' ? sourcePort : destinationPort
  if (header === 'icmp6')
    return ({ protocol, family }) =>
      protocol !== 'icmp' || family !== 6 ? undefined : part === 'type' ? icmpEcho[6] : 0
  if (field === 'ip.ttl') return () => 64
  if (field === 'ip.proto')
    return ({ protocol, family }) =>
      protocol === 'icmp' ? (family === 4 ? 1 : 58) : protocolNumbers[protocol]
  return undefined
}

function comparison(field: string, operator: '==' | '!=', values: readonly string[]): Test | undefined {
  const isWanted = operator === '=='
  if (field === 'inport' || field === 'outport') {
    const [value = ''] = values
    return (packet, names) =>
      (value.startsWith('@')
        ? names.isInGroup(value.slice(1), packet[field])
        : packet[field] === value.slice(1, -1)) === isWanted
  }
  const address = /^ip([46])\.(src|dst)$/.exec(field)
  if (address !== null) {
    const [, family, side] = address
    return (packet, names) => {
      if (String(packet.family) !== family) return false
      const text = side === 'src' ? packet.source : packet.destination
      const isAny = values.some((value) =>
        value.startsWith('$')
          ? (names.addressesOf(value.slice(1)) ?? []).some((one) => isIn(one, text))
          : isIn(value, text),
      )
      return isAny === isWanted
    }
  }
  const numberOf = numberField(field)
  if (numberOf === undefined) return undefined
  const numbers = values.map(Number)
  return (packet) => {
    const number = numberOf(packet)
    return number !== undefined && numbers.includes(number) === isWanted
  }
}

const prefixes = new Map<string, Cidr | Ip>()

function isIn(text: string, address: string): boolean {
  const value = read(text)
  const ip = read(address)
  if (typeof ip === 'object') return false
  if (typeof value !== 'object') return value === ip
  return value.family === (typeof ip === 'number' ? 4 : 6) && contains(value, ip)
}

function read(text: string): Cidr | Ip {
  let value = prefixes.get(text)
  if (value === undefined) prefixes.set(text, (value = text.includes('/') ? parseCidr(text) : parseIp(text)))
  return value
}
