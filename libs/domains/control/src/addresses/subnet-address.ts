import { KubeOvnError, problemText } from '@kube-ovn/errors'
import type { DualStackIp } from '@kube-ovn/ip'
import { ownerOf, type Lease } from '@kube-ovn/ipam'
import { apiVersion, ipResource, subnetResource, type Ip, type Subnet } from '@kube-ovn/kube-api'
import type { ObjectChange } from '@kube-ovn/kube'
import type { Desired, KubeEvent, KubePatch, Trigger } from '@kube-ovn/reconcile'
import { storeIndex } from '../watched-kinds.ts'
import type { ControlWorld } from '../world.ts'
import type { Allocation } from './allocation.ts'
import { desiredIpObject, ipObjectRemoval } from './ip-object.ts'
import { turnsOf } from './turns.ts'
import { subnetAddressNamespace, subnetOwnerOf, type SubnetAddressKind } from './subnet-owner.ts'

/** What a Subnet is to have an address of its own for. */
export interface SubnetAddressNeed {
  readonly kind: SubnetAddressKind
  readonly subnet: string
  /** Name of the record, and of what has the address; absent when none is needed. */
  readonly nic: string | undefined
  /** What the user asks for. */
  readonly wish?: DualStackIp
}

/** An address of a Subnet's own, as far as it can be had. */
export interface SubnetAddress {
  /** What there is to be recorded. */
  readonly nic: string | undefined
  readonly lease: Lease | undefined
  readonly problem: KubeOvnError | undefined
  /** Of this kind, by whichever name. */
  readonly records: readonly Ip[]
  readonly object: Subnet | undefined
  /** Whether records have a place for the generation that they are about. */
  readonly saysGeneration: boolean
}

/** Sees that a Subnet has an address of its own, or none. What one by another name had is given back once its record is gone. */
export function holdSubnetAddress(need: SubnetAddressNeed, allocation: Allocation): SubnetAddress {
  const { kind, subnet, nic, wish } = need
  const { world } = allocation
  const owner = ownerOf(kind, subnet)
  for (const lease of [...world.ipam.leasesOf(owner)])
    if (lease.nic !== nic && world.ips.get(lease.nic) === undefined) allocation.release(lease.nic, owner)
  const rest = {
    nic,
    records: world.ips.find(storeIndex.ipsBySubnet, subnet).filter((ip) => subnetOwnerOf(ip) === owner),
    object: world.subnets.get(subnet),
    saysGeneration: world.definitions.keeps(ipResource, 'observedGeneration'),
  }
  if (nic === undefined) return { ...rest, lease: undefined, problem: undefined }
  try {
    const choices = [{ subnet, static: wish, drawsUnseen: true as const }]
    return { ...rest, lease: allocation.take({ nic, owner, choices, tells: 'last' }), problem: undefined }
  } catch (error) {
    if (!(error instanceof KubeOvnError)) throw error
    return { ...rest, lease: world.ipam.lease(nic), problem: error }
  }
}

/** Whoever keeps an address of a Subnet's own looks again when its record has changed, or when it has a turn. */
export function subnetAddressTriggers(kind: SubnetAddressKind): readonly Trigger<string, ControlWorld>[] {
  return [
    {
      on: 'object',
      resource: ipResource,
      keys: ({ old, new: current }: ObjectChange<Ip>) => {
        const record = current ?? old
        const subnet = record?.spec?.subnet
        if (record === undefined || subnet === undefined) return []
        return subnetOwnerOf(record) === ownerOf(kind, subnet) ? [subnet] : []
      },
    },
    turnsOf(kind),
  ]
}

/** Computes the record of a Subnet's own address, without those of former names, and why there is none. */
export function desiredSubnetAddress(
  subnet: string,
  { nic, lease, problem, records, object, saysGeneration }: SubnetAddress,
): Pick<Desired, 'patches' | 'events' | 'problem'> {
  const patches: KubePatch[] = records
    .filter(({ metadata }) => metadata.name !== nic)
    .map((record) => ipObjectRemoval(record.metadata.name, record))
  const uid = object?.metadata.uid
  if (nic !== undefined && lease !== undefined && uid !== undefined) {
    const holder = {
      ...{ name: nic, podName: nic, namespace: subnetAddressNamespace, nodeName: '' },
      ownerReferences: [{ apiVersion, kind: subnetResource.kind, name: subnet, uid }],
    }
    const existing = records.find(({ metadata }) => metadata.name === nic)
    patches.push(desiredIpObject(holder, lease, existing, saysGeneration))
  }
  return {
    patches,
    events: problem === undefined || uid === undefined ? [] : [refusal(subnet, uid, problem)],
    ...(problem === undefined ? {} : { problem }),
  }
}

function refusal(name: string, uid: string, problem: KubeOvnError): KubeEvent {
  const regarding = { resource: subnetResource, name, uid }
  return { regarding, type: 'Warning', reason: 'AcquireAddressFailed', message: problemText(problem) }
}
