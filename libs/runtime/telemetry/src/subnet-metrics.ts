import type { Registry } from 'prom-client'
import { ShownGauge, type Series } from './shown-gauge.ts'

/** How many addresses of a subnet are taken and free, in the family that has less to give. */
export interface SubnetReading {
  readonly name: string
  /** IPv4, IPv6 or Dual. */
  readonly protocol: string
  readonly cidr: string
  readonly available: number
  readonly used: number
}

/**
 * Metrics of subnets, with upstream's names and labels. Of two families upstream counts what is taken of IPv4 alone, so that nobody learns
 * when the other one is used up.
 *
 * @param read asked when somebody looks; nothing by who does not lead
 */
export function subnetMetrics(registry: Registry, read: () => Iterable<SubnetReading>): void {
  function gauge(name: string, help: string, of: (subnet: SubnetReading) => number): void {
    const labelNames = ['subnet_name', 'protocol', 'subnet_cidr']
    new ShownGauge({ name, help, labelNames, registers: [registry] }, () =>
      Iterator.from(read()).map((one): Series => [
        { subnet_name: one.name, protocol: one.protocol, subnet_cidr: one.cidr },
        of(one),
      ]),
    )
  }
  gauge('subnet_available_ip_count', 'Addresses of a subnet that are free.', ({ available }) => available)
  gauge('subnet_used_ip_count', 'Addresses of a subnet that are taken.', ({ used }) => used)
}
