import type { SubnetSpec } from '@kube-ovn/kube-api'
import { rowTable } from '@kube-ovn/tables'
import { subnets } from '../sources.ts'
import { aspectOf } from './aspect.ts'
import { inSubnet, SubnetInvalidError } from './errors.ts'
import { parseOptions } from './option-text.ts'

/** What routers tell hosts of a Subnet, as ovn-nb(5) has it in Logical_Router_Port, ipv6_ra_configs. */
export type Advertising = Readonly<Record<string, string>>

const byDefault: Advertising = {
  address_mode: 'dhcpv6_stateful',
  max_interval: '30',
  min_interval: '5',
  send_periodic: 'true',
}

const choices: Readonly<Record<string, readonly string[]>> = {
  address_mode: ['slaac', 'dhcpv6_stateful', 'dhcpv6_stateless'],
  send_periodic: ['true', 'false'],
  router_preference: ['HIGH', 'MEDIUM', 'LOW'],
}

/** Inclusive; seconds and bytes. OVN falls back to values of its own beyond them. */
const ranges: Readonly<Record<string, readonly [number, number]>> = {
  max_interval: [4, 1800],
  min_interval: [3, 1350],
  mtu: [1280, 65_535],
}

const field = 'spec.ipv6RAConfigs'

/**
 * Reads what routers advertise; nothing when they shall not. What OVN does not know is passed on, for a newer one may.
 *
 * @throws SubnetInvalidError
 */
export function resolveAdvertising(subnet: string, spec: SubnetSpec): Advertising | undefined {
  if (spec.enableIPv6RA !== true) return undefined
  const options = inSubnet(subnet, () => parseOptions(spec.ipv6RAConfigs ?? '', field))
  if (options.size === 0) return byDefault
  for (const [key, value] of options) {
    const cure = cureOf(key, value)
    if (cure !== undefined) throw new SubnetInvalidError({ subnet, field, value: `${key}=${value}`, cure })
  }
  return Object.fromEntries(options)
}

function cureOf(key: string, value: string): string | undefined {
  const known = choices[key]
  if (known !== undefined && !known.includes(value)) return `write ${key}=${known.join(' or ')}`
  const range = ranges[key]
  if (range === undefined) return undefined
  const [least, most] = range
  const isInside = /^[0-9]+$/.test(value) && Number(value) >= least && Number(value) <= most
  return isInside ? undefined : `choose ${key} from ${least} to ${most}`
}

/** What routers advertise on Subnets, of those on which they do. */
export const advertisings = rowTable({
  name: 'advertisings',
  of: subnets,
  row: aspectOf(resolveAdvertising),
})
