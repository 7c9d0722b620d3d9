import { expect, it } from 'vitest'
import { podPort, podPortName, portDhcp } from '@kube-ovn/ovn-names'
import { podPortFeature } from './feature.ts'

it.each([
  ['shop', 'web', 'ovn'],
  ['shop', 'web.v1.2', 'ovn'],
  ['shop', 'web', 'net1.default.ovn'],
  ['default', 'web.shop', 'net1.default.ovn'],
])('tells by the name of a port whose it may be: %s/%s on %s', (namespace, name, provider) => {
  const key = `${namespace}/${name}`
  const port = podPortName(namespace, name, provider)
  for (const ref of [
    { kind: podPort.name, id: port },
    { kind: portDhcp.name, id: `${port}/4` },
  ]) {
    const keys = podPortFeature.keysOf?.(ref) ?? []
    expect(keys).toContain(key)
    // Each that could be meant, and no other.
    expect(keys.filter((one) => podPortFeature.mayOwn?.(one, ref) !== true)).toEqual([])
  }
})
