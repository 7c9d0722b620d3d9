import { expect, it } from 'vitest'
import type { ChartObject } from './chart.ts'
import { describeRight, rightsOf, unusedRights, type RightUse } from './rights.ts'

const objects: readonly object[] = [
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'reader' },
    rules: [{ apiGroups: ['', 'apps'], resources: ['pods', 'pods/status'], verbs: ['get', 'list'] }],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'everywhere' },
    roleRef: { kind: 'ClusterRole', name: 'reader' },
    subjects: [
      { kind: 'ServiceAccount', name: 'ovn', namespace: 'kube-system' },
      { kind: 'User', name: 'jane', namespace: '' },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'elector', namespace: 'kube-system' },
    rules: [
      {
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        resourceNames: ['leader'],
        verbs: ['update'],
      },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'elector', namespace: 'kube-system' },
    roleRef: { kind: 'Role', name: 'elector' },
    subjects: [{ kind: 'ServiceAccount', name: 'ovn', namespace: 'kube-system' }],
  },
]

const account = 'kube-system/ovn'

function described(...uses: readonly Partial<RightUse>[]): readonly string[] {
  const whole = uses.map((use): RightUse => ({
    ...{ account, verb: 'get', group: '', resource: 'pods', namespace: '', name: '' },
    ...use,
  }))
  return unusedRights(rightsOf(objects as readonly ChartObject[]), whole).map(describeRight)
}

it('lists a right for each verb of each resource that a binding gives to an account', () => {
  expect(described()).toEqual([
    'kube-system/ovn may get pods',
    'kube-system/ovn may list pods',
    'kube-system/ovn may get pods/status',
    'kube-system/ovn may list pods/status',
    'kube-system/ovn may get pods.apps',
    'kube-system/ovn may list pods.apps',
    'kube-system/ovn may get pods.apps/status',
    'kube-system/ovn may list pods.apps/status',
    'kube-system/ovn may update leases.coordination.k8s.io leader in kube-system',
  ])
})

it('takes a right for used when a request of the account needed exactly it', () => {
  const lease = { group: 'coordination.k8s.io', resource: 'leases', verb: 'update', name: 'leader' }
  const leader = 'kube-system/ovn may update leases.coordination.k8s.io leader in kube-system'
  expect(described({ ...lease, namespace: 'kube-system' })).not.toContain(leader)
  expect(described({ ...lease, namespace: 'default' })).toContain(leader)
  expect(described({ ...lease, namespace: 'kube-system', name: 'other' })).toContain(leader)
  expect(described({ ...lease, namespace: 'kube-system', account: 'kube-system/other' })).toContain(leader)
  expect(described({ resource: 'pods/status', name: 'web', namespace: 'default' })).not.toContain(
    'kube-system/ovn may get pods/status',
  )
})
