import { podAnnotations, primaryProvider } from '@kube-ovn/annotations'
import { isAlive } from '@kube-ovn/kube-api/core'
import { podPortName, vendor } from '@kube-ovn/ovn-names'
import { rowTable, type Table } from '@kube-ovn/tables'
import { podIdentities } from './kube-objects.ts'
import type { LocalInterface } from './local-interfaces.ts'
import { attachmentId } from './pod-nic/desired.ts'
import { podTable } from './tables.ts'

/** A pod of this node whose NICs are looked for. */
export interface PodOfNics {
  readonly pod: string
  readonly uids: readonly string[]
  /** What its ports may be named after, with the namespace. */
  readonly holders: readonly string[]
}

/** A pod of this node that asks something of its NICs by annotations. */
interface AskingPod extends PodOfNics {
  /** Those that the table is about alone. */
  readonly annotations: Readonly<Record<string, string>>
}

const { virtualMachine } = podAnnotations()

/** Pods of this node with annotations of some keys, by what their ports may be named after. Most pods have none. */
export function askingPods(name: string, isMeant: (key: string) => boolean): Table<AskingPod, 'holder'> {
  return rowTable({
    name,
    of: podTable,
    row(pod): AskingPod | undefined {
      const { namespace = '', name: podName, annotations = {} } = pod.metadata
      const meant = Object.entries(annotations).filter(([key]) => isMeant(key))
      if (meant.length === 0 || !isAlive(pod)) return undefined
      const machine = virtualMachine.read(annotations)
      const names = machine === undefined ? [podName] : [podName, machine]
      return {
        pod: `${namespace}/${podName}`,
        uids: podIdentities(pod),
        holders: names.map((holder) => `${namespace}/${holder}`),
        annotations: Object.fromEntries(meant),
      }
    },
    indexes: { holder: ({ holders }) => holders },
  })
}

/** A NIC of a pod that asks something. */
interface AskingNic<P> {
  readonly asking: P
  readonly provider: string
  readonly ifaceId: string
  /** With the namespace. */
  readonly holder: string
}

/** Whose NIC is behind an interface of Open vSwitch, and in which network, if its pod is one of those. */
export function askingNic<P extends PodOfNics>(
  { external_ids: ids }: LocalInterface,
  find: (holder: string) => readonly P[],
): AskingNic<P> | undefined {
  const { [attachmentId.podNamespace]: namespace, [attachmentId.podName]: name } = ids
  if (namespace === undefined || name === undefined || ids[attachmentId.vendor] !== vendor) return undefined
  const uid = ids[attachmentId.podUid] ?? ''
  const holder = `${namespace}/${name}`
  const asking = find(holder).find(({ uids }) => uid === '' || uids.includes(uid))
  const ifaceId = ids[attachmentId.ifaceId] ?? ''
  const provider = providerOf(ifaceId, podPortName(namespace, name))
  return asking && provider !== undefined ? { asking, provider, ifaceId, holder } : undefined
}

/** The provider of the network that a port is in: it is a part of its name. */
function providerOf(ifaceId: string, first: string): string | undefined {
  if (ifaceId === first) return primaryProvider
  return ifaceId.startsWith(`${first}.`) ? ifaceId.slice(first.length + 1) : undefined
}
