import { expect, it } from 'vitest'
import { podNames } from './pod-names.ts'

function member(name: string, address: string, set = 'web-57f5bdf5f9') {
  return {
    metadata: {
      namespace: 'default',
      name,
      annotations: { 'ovn.kubernetes.io/ip_address': address },
      ownerReferences: [{ kind: 'ReplicaSet', name: set }],
    },
  }
}

it('numbers the pods of a ReplicaSet by their addresses, and leaves others as they are', () => {
  const names = podNames([
    member('web-57f5bdf5f9-aaaaa', '10.16.0.10,fd00::10'),
    member('web-57f5bdf5f9-bbbbb', '10.16.0.9'),
    {
      metadata: {
        namespace: 'default',
        name: 'db-0',
        ownerReferences: [{ kind: 'StatefulSet', name: 'db' }],
      },
    },
  ])
  expect(names.apply('web-57f5bdf5f9-aaaaa.default web-57f5bdf5f9-bbbbb web-57f5bdf5f9 db-0')).toBe(
    'web-#2.default web-#1 web-# db-0',
  )
})
