import { expect, it } from 'vitest'
import { staleReason, type PodPort } from './desired.ts'

const port: PodPort = { name: 'a_h', podNamespace: 'shop', podName: 'web-0', podUid: 'uid-1', error: '' }
const pod = { uids: ['uid-1'] }

it.each([
  ['keeps the port of a pod of this node', port, pod, undefined],
  [
    'removes a port whose device is gone',
    { ...port, error: 'could not open network device a_h (No such device)' },
    pod,
    'device is gone',
  ],
  ['removes a port whose pod is gone', port, undefined, 'pod is gone'],
  ['removes a port of an earlier pod of the same name', port, { uids: ['uid-2'] }, 'pod was replaced'],
  [
    'keeps a port that upstream made, which does not name the pod’s uid',
    { ...port, podUid: '' },
    { uids: ['uid-2'] },
    undefined,
  ],
  ['keeps a port with another error', { ...port, error: 'out of ports' }, pod, undefined],
] as const)('%s', (_name, given, local, want) => {
  expect(staleReason(given, local)).toBe(want)
})
