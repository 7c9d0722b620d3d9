import type { ApiObject } from './client.ts'

/** A pod that does nothing, from an image that every node has, labelled by its name: on a node that is named, or where the scheduler puts it. */
export function idlePod(
  metadata: ApiObject['metadata'],
  nodeName?: string,
): ApiObject & { readonly spec: unknown } {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { labels: { app: metadata.name }, ...metadata },
    spec: {
      ...(nodeName === undefined ? {} : { nodeName }),
      terminationGracePeriodSeconds: 0,
      containers: [
        { name: 'pod', image: 'docker.io/library/busybox:stable', command: ['sleep', 'infinity'] },
      ],
    },
  }
}
