import { nothing } from '@kube-ovn/reconcile'
import { flagsOf, type ControlFeature } from '@kube-ovn/domains-control'
import { desiredNorthboundOptions, type OptionsSnapshot } from './desired.ts'
import { northboundFlags } from './flags.ts'

/** Keeps the options of the Northbound's only NB_Global row. */
export const northboundOptions: ControlFeature<'global', OptionsSnapshot> = {
  name: 'nb-options',
  kinds: [],
  flags: northboundFlags,
  triggers: [{ on: 'row', table: 'NB_Global', keys: () => ['global'] }],
  initialKeys: () => ['global'],
  observe: (_key, { settings }) => ({
    nodeLocalDns: settings.nodeLocalDns,
    version: settings.version,
    flags: flagsOf(northboundFlags, settings),
  }),
  desired: (_key, settings) => (settings === undefined ? nothing : desiredNorthboundOptions(settings)),
}
