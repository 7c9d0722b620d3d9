import { Counter, Gauge, type Registry } from 'prom-client'

/** What one audit of all addresses came to. */
export interface AuditOutcome {
  /** Findings that stand, by rule; every rule is there. */
  readonly standing: ReadonlyMap<string, number>
  /** How long the event loop was busy with it, all slices together. */
  readonly workMs: number
  /** The longest time for which nothing else could be done. */
  readonly longestSliceMs: number
  /** When it ended, milliseconds since the epoch. */
  readonly endedAtMs: number
}

/** Metrics of the audit of addresses. */
export interface AddressAuditMetrics {
  audited(outcome: AuditOutcome): void
  failed(): void
  /** Another process audits from now on: what this one found says nothing any more. */
  ended(): void
}

export function addressAuditMetrics(registry: Registry): AddressAuditMetrics {
  const registers = [registry]
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers })
  const findings = new Gauge({
    name: 'kube_ovn_address_findings',
    help: 'Contradictions about who has which address that stand, by rule.',
    labelNames: ['rule'],
    registers,
  })
  const audits = new Counter({
    name: 'kube_ovn_address_audits_total',
    help: 'Audits of all addresses by outcome.',
    labelNames: ['outcome'],
    registers,
  })
  for (const outcome of ['completed', 'failed']) audits.inc({ outcome }, 0)
  const endedAt = gauge('kube_ovn_address_audit_timestamp_seconds', 'When the last audit was completed.')
  const work = gauge(
    'kube_ovn_address_audit_work_seconds',
    'Time of the event loop that the last audit took.',
  )
  const longest = gauge('kube_ovn_address_audit_longest_slice_seconds', 'Its longest uninterrupted part.')
  return {
    audited({ standing, workMs, longestSliceMs, endedAtMs }: AuditOutcome): void {
      for (const [rule, count] of standing) findings.set({ rule }, count)
      audits.inc({ outcome: 'completed' })
      endedAt.set(endedAtMs / 1000)
      work.set(workMs / 1000)
      longest.set(longestSliceMs / 1000)
    },
    failed(): void {
      audits.inc({ outcome: 'failed' })
    },
    ended(): void {
      findings.reset()
    },
  }
}
