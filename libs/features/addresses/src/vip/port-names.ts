import { vipType, type Vip } from '@kube-ovn/kube-api'
import { vipPortName } from '@kube-ovn/ovn-names'
import type { KnownVipType } from './request.ts'

/** The names of the ports that a Vip is to have. */
export interface VipPortNames {
  /** The one of a machine on a host's network. */
  readonly own?: string
  /** The virtual one, bound where somebody announces the address: nobody does that of one which has a port itself. */
  readonly virtual?: string
}

/** @param provider of the subnet; that of the first network is not part of a name */
export function portNamesOf(
  { metadata: { name }, spec }: Vip,
  type: KnownVipType,
  provider: string,
): VipPortNames {
  const namespace = spec?.namespace ?? ''
  return {
    ...(type !== vipType.hostVm ? {} : { own: vipPortName(namespace, name, provider) }),
    ...(namespace === '' || type !== vipType.plain ? {} : { virtual: name }),
  }
}
