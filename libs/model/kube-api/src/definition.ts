import type { z } from 'zod'
import type { Resource } from './core/object.ts'

/** Everything that the API server is told about one custom resource. */
export interface Definition {
  readonly resource: Resource
  readonly singular: string
  readonly shortNames: readonly string[]
  /** One sentence for the reference page and `kubectl explain`. */
  readonly description: string
  /** The program that acts on objects and writes their status; absent: the controller. */
  readonly servedBy?: 'speaker'
  /** Who writes its status, where that is not the program that acts on it. */
  readonly statusBy?: 'CoreDNS'
  readonly spec: z.ZodObject
  readonly status?: z.ZodObject
  readonly hasStatusSubresource: boolean
  readonly printerColumns: readonly PrinterColumn[]
}

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string
  readonly type: 'string' | 'boolean' | 'number' | 'integer' | 'date'
  readonly jsonPath: string
}
