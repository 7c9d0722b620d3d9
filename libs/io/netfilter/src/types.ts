/**
 * A typed model of nftables, in the words of its JSON schema.
 *
 * @see libnftables-json(5), nft(8)
 */

export type TableFamily = (typeof tableFamilies)[number]

/** A chain of `netdev` is entered by what comes in by one link, before anybody else sees it. */
export const tableFamilies = ['inet', 'ip', 'ip6', 'netdev'] as const

export interface Prefix {
  readonly prefix: { readonly addr: string; readonly len: number }
}

export interface Range {
  readonly range: readonly [Value, Value]
}

/** A literal: an address, a port, a mark, a name of a constant. */
export type Value = string | number | Prefix | Range

/** A value that belongs to a concatenated key, such as address and port. */
export interface Concatenation {
  readonly concat: readonly Value[]
}

export type SetElement = Value | Concatenation

/** Data types of keys, nft(8) "DATA TYPES". */
export type SetType =
  'ipv4_addr' | 'ipv6_addr' | 'ether_addr' | 'inet_proto' | 'inet_service' | 'mark' | 'ifname'

/** A named set. */
export interface NftSet {
  readonly name: string
  readonly type: SetType | readonly SetType[]
  /** `interval` lets elements be prefixes and ranges. */
  readonly flags?: readonly 'interval'[]
  /** Merges overlapping prefixes and ranges of addresses before they are written, which the kernel would refuse. */
  readonly autoMerge?: boolean
  readonly comment?: string
  readonly elements: readonly SetElement[]
}

/** A named map from keys to where a packet goes on. */
export interface NftMap {
  readonly name: string
  readonly type: readonly SetType[]
  readonly comment?: string
  readonly elements: readonly (readonly [Concatenation, Verdict])[]
}

export type Verdict =
  | { readonly goto: { readonly target: string } }
  | { readonly jump: { readonly target: string } }
  | { readonly drop: null }

export type Hook = 'prerouting' | 'input' | 'forward' | 'output' | 'postrouting' | 'ingress'

/** Makes a chain one that packets enter from the kernel. */
export interface BaseChain {
  readonly type: 'filter' | 'nat' | 'route'
  readonly hook: Hook
  /** Lower comes first; nft's names: raw -300, mangle -150, dstnat -100, filter 0, srcnat 100. */
  readonly priority: number
  readonly policy?: 'accept' | 'drop'
  /** Of `ingress`: the link. nft lists no chain's, so a chain of another link needs another name. */
  readonly link?: string
}

export interface NftRule {
  readonly statements: readonly Statement[]
  readonly comment?: string
}

export interface Chain {
  readonly name: string
  /** Absent: a chain that is only jumped to. */
  readonly base?: BaseChain
  readonly comment?: string
  readonly rules: readonly NftRule[]
}

export interface Table {
  readonly family: TableFamily
  readonly name: string
  readonly sets: readonly NftSet[]
  readonly maps?: readonly NftMap[]
  readonly chains: readonly Chain[]
}

export type PayloadField =
  | { readonly protocol: 'ether'; readonly field: 'saddr' | 'daddr' }
  | { readonly protocol: 'ip'; readonly field: 'saddr' | 'daddr' | 'protocol' | 'ttl' | 'dscp' }
  | { readonly protocol: 'ip6'; readonly field: 'saddr' | 'daddr' | 'nexthdr' | 'hoplimit' | 'dscp' }
  | { readonly protocol: 'tcp'; readonly field: 'sport' | 'dport' | 'flags' }
  | { readonly protocol: 'udp'; readonly field: 'sport' | 'dport' }
  | { readonly protocol: 'th'; readonly field: 'sport' | 'dport' }
  | { readonly protocol: 'icmp' | 'icmpv6'; readonly field: 'type' | 'code' }

export type MetaKey = 'mark' | 'iifname' | 'oifname' | 'l4proto' | 'nfproto' | 'pkttype'
export type ConntrackKey = 'state' | 'mark' | 'status' | 'direction'

export type Expression =
  | SetElement
  | { readonly payload: PayloadField }
  | { readonly meta: { readonly key: MetaKey } }
  | { readonly ct: { readonly key: ConntrackKey; readonly dir?: 'original' | 'reply' } }
  | { readonly fib: { readonly result: 'type' | 'oif' | 'oifname'; readonly flags: readonly string[] } }
  | { readonly set: readonly SetElement[] }
  | { readonly '&': readonly [Expression, Expression] }
  | { readonly '|': readonly [Expression, Expression] }
  | { readonly '^': readonly [Expression, Expression] }
  | { readonly concat: readonly Expression[] }
  /** A number below `mod`, another one for each packet. */
  | { readonly numgen: { readonly mode: 'random' | 'inc'; readonly mod: number; readonly offset: number } }
  /** A number below `mod`, the same one for the same value. */
  | { readonly jhash: { readonly mod: number; readonly seed: number; readonly expr: Expression } }
  /** What a map without a name has for a key. */
  | {
      readonly map: {
        readonly key: Expression
        readonly data: { readonly set: readonly (readonly [Value, SetElement])[] }
      }
    }
  | readonly string[]

export type Operator = '==' | '!=' | '<' | '>' | '<=' | '>=' | 'in'

export type NatFlag = 'random' | 'fully-random' | 'persistent'

export type Statement =
  | { readonly match: { readonly op: Operator; readonly left: Expression; readonly right: Expression } }
  | { readonly mangle: { readonly key: Expression; readonly value: Expression } }
  | { readonly masquerade: null | { readonly flags?: readonly NatFlag[] } }
  | {
      readonly snat: {
        readonly addr: Expression
        readonly family?: 'ip' | 'ip6'
        readonly flags?: readonly NatFlag[]
      }
    }
  | {
      readonly dnat: {
        readonly addr: Expression
        readonly family?: 'ip' | 'ip6'
        readonly port?: Expression
      }
    }
  /** Goes on where a map of the same table says, `@name`; nothing of its key: the next statement. */
  | { readonly vmap: { readonly key: Expression; readonly data: string } }
  /** Sends by a link what came in, as it is; of `netdev` alone. */
  | { readonly fwd: { readonly dev: string } }
  | { readonly counter: null }
  | { readonly log: { readonly prefix?: string } }
  | { readonly reject: null | { readonly type: 'tcp reset' | 'icmpx'; readonly expr?: string } }
  | { readonly notrack: null }
  | { readonly accept: null }
  | { readonly drop: null }
  | { readonly return: null }
  | { readonly jump: { readonly target: string } }
  | { readonly goto: { readonly target: string } }

/** Names a table. */
export type TableKey = Pick<Table, 'family' | 'name'>

/** What happened to tables. */
export type TableEvent =
  /** A transaction changed something in this table, whoever made it. Reported once per transaction. */
  | { readonly kind: 'changed'; readonly table: TableKey }
  /** Events were lost: look at every table. */
  | { readonly kind: 'resync' }

export interface NetfilterOptions {
  /** Path of the network namespace to work in. Default: the one this process is in. */
  readonly netns?: string
  /** The nft executable. Default: `nft` on the PATH. */
  readonly nft?: string
}

/** What `applyTable` found: `unchanged` means that the kernel had exactly this table and nothing was written. */
export type ApplyOutcome = 'applied' | 'unchanged'

/**
 * A table as nft lists it, without what the kernel adds and counts (handles, packets), in a fixed order. Two listings
 * by the same nft are equal if and only if the tables do the same.
 */
export type TableListing = readonly JsonValue[]

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject
export interface JsonObject {
  readonly [key: string]: JsonValue
}

/**
 * Works on the nftables of one network namespace; other tables than those named are never touched.
 *
 * A call starts nft up to five times (5 ms each), unless it is known how the table is: while somebody watches, what was written, and
 * what nobody else has changed, is not read again. Calls on one object run one after another.
 */
export interface Netfilter {
  /** Makes the kernel's table equal to this one, in one transaction; writes nothing if it is, and only what differs where that is known. */
  applyTable(table: Table): Promise<ApplyOutcome>
  /** Writes a table whatever is there, in one transaction, with one start of nft: for who may not make the empty namespace to compare in. */
  replaceTable(table: Table): Promise<void>
  /** Removes a table; its not being there is fine. */
  removeTable(key: TableKey): Promise<void>
  /** Lists a table; `undefined` if there is none. */
  readTable(key: TableKey): Promise<TableListing | undefined>
  /** Which tables there are, by whomever, of {@link tableFamilies}. */
  listTables(): Promise<readonly TableKey[]>
  /** Whether the kernel's table differs from this one. */
  hasDrifted(table: Table): Promise<boolean>
  /** Tells the listener which tables are changed, by whomever, from now on. It costs neither process nor thread, and spares reading. */
  watch(listener: (event: TableEvent) => void, options?: { readonly ref?: boolean }): Disposable
}
