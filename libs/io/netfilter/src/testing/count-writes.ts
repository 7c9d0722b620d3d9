import { eachAttribute, openMulticast, parseAttributes } from '@kube-ovn/netlink'
import { netfilterProtocol, nftablesGroupMask } from '../watch.ts'

/** NFT_MSG_* of linux/netfilter/nf_tables.h. */
const kinds = new Map([
  [0, 'table'],
  [2, 'table deleted'],
  [3, 'chain'],
  [5, 'chain deleted'],
  [6, 'rule'],
  [8, 'rule deleted'],
  [9, 'set'],
  [11, 'set deleted'],
  [12, 'element'],
  [14, 'element deleted'],
])

/** NFTA_SET_ELEM_LIST_ELEMENTS. */
const elementList = 3
/** struct nfgenmsg. */
const headerBytes = 4

/** What has been written to the packet filter of a namespace. */
export interface WriteCount extends Disposable {
  /** So many of each kind since it was asked last. What goes with something else that goes is not told by the kernel. */
  take(): Readonly<Record<string, number>>
}

/** Counts what is written to the packet filter of a namespace, as the kernel tells it. */
export function countWrites({ path }: { readonly path: string }): WriteCount {
  let counts: Record<string, number> = {}
  const events = openMulticast(
    { protocol: netfilterProtocol, groupMask: nftablesGroupMask, netns: path },
    (event) => {
      if (event.kind === 'overrun') throw new Error('writes were lost before they were counted')
      const { type, body } = event.message
      const kind = kinds.get(type & 0xff)
      if (kind === undefined) return
      const list = parseAttributes(body.subarray(headerBytes)).get(elementList)
      const count = kind.startsWith('element') && list !== undefined ? [...eachAttribute(list)].length : 1
      counts[kind] = (counts[kind] ?? 0) + count
    },
  )
  return {
    take() {
      events.takeArrived()
      const taken = counts
      counts = {}
      return taken
    },
    [Symbol.dispose]: () => events[Symbol.dispose](),
  }
}
