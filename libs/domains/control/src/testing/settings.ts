import type { Definitions } from '../definitions.ts'
import type { ControlSettings } from '../settings.ts'

/** An API server that has the chart's definitions. */
export const chartDefinitions: Definitions = { keeps: () => true }

/** The settings of a controller without flags, dual stack, with those of a test instead. */
export function controlSettings(settings: Partial<ControlSettings> = {}): ControlSettings {
  return {
    clusterRouter: 'ovn-cluster',
    defaultSubnet: {
      name: 'ovn-default',
      cidrBlock: '10.16.0.0/16,fd00:10:16::/112',
      gateway: '',
      excludeIps: [],
      disableGatewayCheck: false,
    },
    defaultUnderlay: undefined,
    nodeSwitch: { name: 'join', cidrBlock: '100.64.0.0/16,fd00:100:64::/112', gateway: '', excludeIps: [] },
    enableLb: true,
    defaultProvider: 'provider',
    externalSubnet: 'external',
    enableEipSnat: true,
    enableNp: true,
    enableAnp: false,
    enableDnsNameResolver: false,
    podNicType: 'veth-pair',
    keepVmIp: true,
    nonPrimaryCni: false,
    nodeLocalDns: [],
    servicePrefixes: ['10.96.0.0/12', 'fd00:10:96::/112'],
    apiServerAddress: undefined,
    namespace: 'kube-system',
    version: 'v1.17.0',
    flags: {},
    ...settings,
  }
}
