import type { StatefulSet } from '@kube-ovn/kube-api/core'

export interface StatefulSetFields {
  readonly name?: string
  readonly namespace?: string
  readonly replicas?: number
  /** Number of the first member. */
  readonly start?: number
  /** Annotations of the pods that it makes. */
  readonly annotations?: Readonly<Record<string, string>>
}

/** A StatefulSet as a user writes it. Nobody makes its pods in a test without a controller manager. */
export function statefulSet(fields: StatefulSetFields = {}): StatefulSet {
  const { name = 'db', namespace = 'default', replicas = 1, start, annotations } = fields
  const labels = { app: name }
  const spec = {
    replicas,
    ...(start === undefined ? {} : { ordinals: { start } }),
    serviceName: name,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels, ...(annotations === undefined ? {} : { annotations }) },
      spec: { containers: [{ name: 'main', image: 'example.com/image' }] },
    },
  }
  return { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name, namespace }, spec }
}
