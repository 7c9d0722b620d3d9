import type { Subnet } from '@kube-ovn/kube-api'
import type { ControlWorld } from '../world.ts'

/** The network whose NICs take their addresses from a subnet: the one in effect, or else the one specified. */
export function providerOfSubnet(
  { metadata, spec }: Subnet,
  { networks }: Pick<ControlWorld, 'networks'>,
): string | undefined {
  return networks.get(metadata.name)?.provider ?? spec?.provider
}
