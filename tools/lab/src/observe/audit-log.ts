import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Cluster } from '../cluster/cluster.ts'

/** A request as the API server's audit log has it. */
export interface AuditedRequest {
  readonly verb: string
  readonly user: string
  readonly userAgent: string
  readonly resource: string
  readonly subresource: string | undefined
  readonly namespace: string | undefined
  readonly name: string | undefined
  readonly status: number
  /** When it was answered. */
  readonly at: string
}

interface AuditEvent {
  readonly verb: string
  readonly userAgent?: string
  readonly user: { readonly username: string }
  readonly objectRef?: {
    readonly resource?: string
    readonly subresource?: string
    readonly namespace?: string
    readonly name?: string
  }
  readonly responseStatus?: { readonly code?: number }
  readonly stageTimestamp: string
}

function pathOf(cluster: Cluster): string {
  return join(cluster.directory, 'logs/control/audit.log')
}

/** The present end of the audit log, to read from later. */
export function auditPosition(cluster: Cluster): number {
  return statSync(pathOf(cluster)).size
}

/** The requests that were answered since a position. */
export function readAudit(cluster: Cluster, since: number): AuditedRequest[] {
  const file = openSync(pathOf(cluster), 'r')
  try {
    const buffer = Buffer.alloc(Math.max(0, fstatSync(file).size - since))
    readSync(file, buffer, 0, buffer.length, since)
    return buffer
      .toString()
      .split('\n')
      .filter((line) => line.endsWith('}'))
      .map((line) => toRequest(JSON.parse(line) as AuditEvent))
  } finally {
    closeSync(file)
  }
}

function toRequest(event: AuditEvent): AuditedRequest {
  return {
    verb: event.verb,
    user: event.user.username,
    userAgent: event.userAgent ?? '',
    resource: event.objectRef?.resource ?? '',
    subresource: event.objectRef?.subresource,
    namespace: event.objectRef?.namespace,
    name: event.objectRef?.name,
    status: event.responseStatus?.code ?? 0,
    at: event.stageTimestamp,
  }
}

const writingVerbs = new Set(['create', 'update', 'patch', 'delete', 'deletecollection'])

/**
 * Says whether a request changed the cluster.
 *
 * Leases are renewed all the time by design, and reviews ask a question by creating an object that is not kept.
 */
export function isWrite(request: AuditedRequest): boolean {
  return (
    writingVerbs.has(request.verb) &&
    request.resource !== 'leases' &&
    !request.resource.endsWith('reviews') &&
    request.subresource !== 'token'
  )
}
