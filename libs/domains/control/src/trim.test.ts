import { pod } from '@kube-ovn/testing-builders'
import { expect, it } from 'vitest'
import { trimPod } from './trim.ts'

it('keeps named ports of containers, and of init containers that go on beside them', () => {
  const made = pod({ name: 'web' })
  const [http, admin, mesh, once] = ['http', 'admin', 'mesh', 'once'].map((name, index) => ({
    ...{ name, containerPort: 8080 + index },
  }))
  const { spec } = trimPod({
    ...made,
    spec: {
      ...made.spec,
      containers: [
        { name: 'web', image: 'web', ports: [http ?? {}, { containerPort: 1 }] },
        { name: 'quiet', image: 'quiet' },
        { name: 'admin', image: 'admin', ports: [admin ?? {}] },
      ],
      initContainers: [
        { name: 'proxy', image: 'proxy', restartPolicy: 'Always', ports: [mesh ?? {}] },
        { name: 'setup', image: 'setup', ports: [once ?? {}] },
        { name: 'never', image: 'never', restartPolicy: 'Never', ports: [once ?? {}] },
      ],
    },
  } as typeof made)
  expect([spec.containers, 'initContainers' in spec]).toEqual([
    [
      { name: 'web', ports: [http] },
      { name: 'admin', ports: [admin] },
      { name: 'proxy', ports: [mesh] },
    ],
    false,
  ])
})
