import { Gauge, type Registry } from 'prom-client'

/**
 * Shows whether this process leads, under client-go's name.
 *
 * @param name what is competed for, e.g. `kube-ovn-controller`
 */
export function leaderMetrics(registry: Registry, name: string, isLeader: () => boolean): void {
  new Gauge({
    name: 'leader_election_master_status',
    help: 'Whether this process leads: 1 for the leader, 0 for those who would take over.',
    labelNames: ['name'],
    registers: [registry],
    collect() {
      this.set({ name }, isLeader() ? 1 : 0)
    },
  })
}
