import {
  openMulticast,
  parseAttributes,
  readText,
  type Message,
  type Multicast,
  type NamespaceReference,
} from '@kube-ovn/netlink'
import type { TableEvent, TableFamily, TableKey } from './types.ts'

/** NETLINK_NETFILTER. */
export const netfilterProtocol = 12
/** NFNLGRP_NFTABLES is group 7. */
export const nftablesGroupMask = 1 << 6
/** NFNL_SUBSYS_NFTABLES: the upper byte of a message's type. */
const nftablesSubsystem = 10
/** NFT_MSG_NEWGEN ends the events of a transaction. */
const newGeneration = 15
/** struct nfgenmsg: family, version, resource. */
const headerBytes = 4
/** The table's name, in messages about every kind of object: NFTA_TABLE_NAME, NFTA_CHAIN_TABLE, NFTA_RULE_TABLE, … */
const tableNameAttribute = 1

/** NFPROTO_* of linux/netfilter.h. */
const families = new Map<number, TableFamily>([
  [1, 'inet'],
  [2, 'ip'],
  [5, 'netdev'],
  [10, 'ip6'],
])

/** Watches the tables of a namespace; the event of a table comes once per transaction, when it is complete. */
export function watchTables(
  netns: NamespaceReference | undefined,
  listener: (event: TableEvent) => void,
  options: { readonly ref?: boolean },
): Multicast {
  const changed = new Map<string, TableKey>()
  return openMulticast(
    {
      ...options,
      protocol: netfilterProtocol,
      groupMask: nftablesGroupMask,
      ...(netns === undefined ? {} : { netns }),
    },
    (event) => {
      if (event.kind === 'overrun') {
        changed.clear()
        listener({ kind: 'resync' })
        return
      }
      const { message } = event
      if (message.type >> 8 !== nftablesSubsystem) return
      if ((message.type & 0xff) !== newGeneration) {
        const table = tableOf(message)
        if (table !== undefined) changed.set(`${table.family} ${table.name}`, table)
        return
      }
      const tables = [...changed.values()]
      changed.clear()
      for (const table of tables) listener({ kind: 'changed', table })
    },
  )
}

function tableOf({ body }: Message): TableKey | undefined {
  const family = families.get(body.readUInt8(0))
  const name = parseAttributes(body.subarray(headerBytes)).get(tableNameAttribute)
  return family === undefined || name === undefined ? undefined : { family, name: readText(name) }
}
