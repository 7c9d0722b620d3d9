import { externalIds, flagsOf, type ControlFeature } from '@kube-ovn/domains-control'
import { aclSamplingFlags, collectorName } from '@kube-ovn/domains-control/policies'
import { sampleCollector, samplingApp } from '@kube-ovn/ovn-names'
import { nothing, type OwnedRow } from '@kube-ovn/reconcile'

/** Where samples go that are taken of what ACLs decide. */
interface SamplingSnapshot {
  /** Of the collector, one that no other has. */
  readonly id: number
  /** Of 65535 packets. */
  readonly probability: number
  /** Flow_Sample_Collector_Set of Open vSwitch. */
  readonly set: number
}

/** Names the collector of samples that [features with ACLs](../../../../domains/control/src/policies/acl-sampling.ts) have taken. */
export const aclSampling: ControlFeature<'collector' | 'app', SamplingSnapshot> = {
  name: 'acl-sampling',
  kinds: [sampleCollector, samplingApp],
  mayOwn: (key, { kind }) => (key === 'collector') === (kind === sampleCollector.name),
  triggers: [],
  // ACLs can not do without the collector: whatever becomes of the other row, they have it.
  initialKeys: () => ['collector', 'app'],
  flags: aclSamplingFlags,
  lookups: [{ table: 'Sample_Collector', indexes: ['id', 'name'], isKept: true }],
  observe: (_key, { settings, northbound }) => {
    const { aclSampleProbability, aclSampleCollectorSet } = flagsOf(aclSamplingFlags, settings)
    const [own] = northbound.find('Sample_Collector', 'name', collectorName)
    const free = collectorIds.find((id) => northbound.find('Sample_Collector', 'id', id).length === 0)
    return {
      id: own?.id ?? free ?? firstId,
      ...{ probability: aclSampleProbability, set: aclSampleCollectorSet },
    }
  },
  desired: (key, snapshot) => {
    if (snapshot === undefined || snapshot.probability === 0) return nothing
    return { ...nothing, rows: [key === 'collector' ? collectorRow(snapshot) : appRow] }
  },
}

/** Among all collectors; 255 is the last one that there can be (ovn-nb(5), Sample_Collector, id). */
const firstId = 142
const collectorIds = Array.from({ length: 256 - firstId }, (_, further) => firstId + further)

/** Observation domain of packets that begin a connection, as OVN-Kubernetes numbers them (ovn-nb(5), Sampling_App, id). */
const newConnections = { type: 'acl-new', id: 2 } as const

/** @see ovn-nb(5), Sample_Collector */
function collectorRow({ id, probability, set }: SamplingSnapshot): OwnedRow {
  const columns = { id, name: collectorName, probability, set_id: set, external_ids: externalIds({}) }
  return { kind: sampleCollector, id: collectorName, columns }
}

/** Has ovn-northd sample packets that begin a connection, let in or dropped (ovn-nb(5), Sampling_App). */
const appRow: OwnedRow = {
  kind: samplingApp,
  id: newConnections.type,
  columns: { ...newConnections, external_ids: externalIds({}) },
}
