import { expect, it } from 'vitest'
import { parseEndpoint } from './endpoint.ts'
import { InvalidEndpointError } from './errors.ts'

it.each([
  ['tcp:10.0.0.1:6641', { protocol: 'tcp', host: '10.0.0.1', port: 6641 }],
  ['tcp:[fd00::1]:6641', { protocol: 'tcp', host: 'fd00::1', port: 6641 }],
  ['tcp:[fe80::1%eth0]:6641', { protocol: 'tcp', host: 'fe80::1%eth0', port: 6641 }],
  ['ssl:ovn-nb.kube-system.svc:6641', { protocol: 'ssl', host: 'ovn-nb.kube-system.svc', port: 6641 }],
  ['tcp:127.0.0.1', { protocol: 'tcp', host: '127.0.0.1', port: 6640 }],
  ['unix:/run/ovn/ovnnb_db.sock', { protocol: 'unix', path: '/run/ovn/ovnnb_db.sock' }],
])('reads %s', (text, want) => expect(parseEndpoint(text)).toEqual({ ...want, text }))

it.each([
  '',
  'tcp:',
  'unix:',
  '10.0.0.1:6641',
  'ptcp:6641',
  'tcp:fd00::1:6641',
  'tcp:[fd00::1]6641',
  'tcp:10.0.0.1:0',
  'tcp:10.0.0.1:65536',
  'tcp:10.0.0.1:6641,tcp:10.0.0.2:6641',
])('refuses %j', (text) => expect(() => parseEndpoint(text)).toThrow(InvalidEndpointError))
