import { nothing } from '@kube-ovn/reconcile'
import type { ControlSettings, ControlFeature } from '@kube-ovn/domains-control'
import { desiredNorthboundOptions } from './desired.ts'

/** Keeps the options of the Northbound's only NB_Global row. */
export const northboundOptions: ControlFeature<'global', ControlSettings> = {
  name: 'nb-options',
  kinds: [],
  triggers: [{ on: 'row', table: 'NB_Global', keys: () => ['global'] }],
  initialKeys: () => ['global'],
  observe: (_key, world) => world.settings,
  desired: (_key, settings) => (settings === undefined ? nothing : desiredNorthboundOptions(settings)),
}
