import type { Container } from '@kube-ovn/kube-api/core'
import { expect, it } from 'vitest'
import { probedPorts } from './probed-ports.ts'

function portsOf(...containers: readonly Partial<Container>[]): readonly number[] {
  return probedPorts({ spec: { containers: containers.map((one) => ({ name: 'web', ...one })) } })
}

it('knows every probe and hook that goes over the network', () => {
  expect(
    portsOf(
      { livenessProbe: { httpGet: { port: 8080 } }, readinessProbe: { tcpSocket: { port: 9090 } } },
      { startupProbe: { grpc: { port: 50051 } }, lifecycle: { preStop: { httpGet: { port: 81 } } } },
      { lifecycle: { postStart: { tcpSocket: { port: 82 } } } },
    ),
  ).toEqual([81, 82, 8080, 9090, 50051])
})

it('knows those of sidecars', () => {
  const sidecar = { name: 'proxy', restartPolicy: 'Always', readinessProbe: { httpGet: { port: 15_021 } } }
  expect(probedPorts({ spec: { containers: [], initContainers: [sidecar] } })).toEqual([15_021])
})

it('looks up names in the container itself', () => {
  const named = { readinessProbe: { httpGet: { port: 'http' } } }
  expect(portsOf({ ...named, ports: [{ name: 'http', containerPort: 8080 }] })).toEqual([8080])
  expect(portsOf(named, { ports: [{ name: 'http', containerPort: 8080 }] })).toEqual([])
})

it.each([
  ['a number as text', { port: '8080' }, [8080]],
  ['a probe of another host', { port: 8080, host: '192.0.2.1' }, []],
  ['an empty host', { port: 8080, host: '' }, [8080]],
  ['no port', {}, []],
  ['0', { port: 0 }, []],
  ['what is no port', { port: 65_536 }, []],
  ['a fraction', { port: 80.5 }, []],
] as const)('takes %s for what it is', (_name, target, want) => {
  expect(portsOf({ readinessProbe: { httpGet: target } })).toEqual(want)
})

it('knows a port that is probed twice once, and none of a probe by exec', () => {
  const probe = { httpGet: { port: 8080 } }
  expect(portsOf({ livenessProbe: probe, readinessProbe: probe, startupProbe: {} })).toEqual([8080])
})
