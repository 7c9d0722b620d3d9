import { errorCode } from '@kube-ovn/errors'
import type { PingerHealth } from '@kube-ovn/telemetry'
import type { NamedPort, PingTarget } from './targets.ts'

/** What came of one check. Each has a name by which it is logged and counted. */
export type Outcome =
  | {
      readonly kind: 'health'
      readonly check: string
      /** Where it has metrics of upstream. */
      readonly metric?: PingerHealth
      readonly isGood: boolean
      readonly tookMs?: number
      readonly reason?: string
    }
  | {
      readonly kind: 'ping'
      readonly target: PingTarget
      readonly sent: number
      readonly roundTripMs: readonly number[]
      readonly reason?: string
    }
  | { readonly kind: 'port'; readonly target: NamedPort; readonly tookMs?: number; readonly reason?: string }
  | {
      readonly kind: 'bindings'
      /** Interfaces that the Southbound does not bind to this node; `undefined` when that could not be found out. */
      readonly missing: readonly string[] | undefined
      readonly reason?: string
    }

/** What a check is called in logs, metrics and reports. */
export function checkOf(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'health':
      return outcome.check
    case 'ping':
      return outcome.target.kind
    case 'port':
      return outcome.target.check
    case 'bindings':
      return 'port-bindings'
  }
}

export function isGood(outcome: Outcome): boolean {
  switch (outcome.kind) {
    case 'health':
      return outcome.isGood
    case 'ping':
      return outcome.sent > 0 && outcome.roundTripMs.length === outcome.sent
    case 'port':
      return outcome.tookMs !== undefined
    case 'bindings':
      return outcome.missing?.length === 0
  }
}

/** Where a ping or a port went, and how it went, for programs. */
export function measured(outcome: Outcome): object {
  if (outcome.kind !== 'ping') return {}
  const { target, sent, roundTripMs } = outcome
  const sum = roundTripMs.reduce((total, one) => total + one, 0)
  return {
    address: target.address,
    ...(target.kind !== 'external' && { node: target.labels.target_node_name }),
    sent,
    lost: sent - roundTripMs.length,
    ...(roundTripMs.length > 0 && { ms: Math.round((1000 * sum) / roundTripMs.length) / 1000 }),
  }
}

/** What was asked, and what was wrong with it, in a few words. */
export function describeOutcome(outcome: Outcome): { readonly subject: string; readonly result: string } {
  const { reason } = outcome
  switch (outcome.kind) {
    case 'health':
      return { subject: outcome.check, result: outcome.isGood ? took(outcome.tookMs) : (reason ?? 'failed') }
    case 'ping': {
      const { target, sent, roundTripMs } = outcome
      const lost = sent - roundTripMs.length
      const average = roundTripMs.reduce((sum, one) => sum + one, 0) / Math.max(roundTripMs.length, 1)
      const result = `${sent} sent, ${lost} lost${roundTripMs.length > 0 ? `, ${average.toFixed(2)} ms` : ''}`
      return { subject: addressed(target), result: reason === undefined ? result : `${result}: ${reason}` }
    }
    case 'port': {
      const { target, tookMs } = outcome
      const subject = `${addressed(target)} ${target.protocol} ${target.port}`
      return { subject, result: tookMs === undefined ? (reason ?? 'failed') : took(tookMs) }
    }
    case 'bindings': {
      const { missing } = outcome
      const result =
        missing === undefined ? (reason ?? 'unknown') : missing.length === 0 ? 'ok' : missing.join(', ')
      return { subject: 'interfaces without port binding', result }
    }
  }
}

function took(ms: number | undefined): string {
  return ms === undefined ? 'ok' : `${ms.toFixed(2)} ms`
}

function addressed({ name, address }: { readonly name: string; readonly address: string }): string {
  return name === address ? address : `${name} ${address}`
}

/** The reason that an error gives, for a log and a report. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const details = 'details' in error && typeof error.details === 'object' ? error.details : undefined
  const reason =
    details !== null && details !== undefined && 'reason' in details
      ? String(details.reason)
      : errorCode(error.cause)
  return reason === undefined ? error.message : `${error.message}: ${reason}`
}
