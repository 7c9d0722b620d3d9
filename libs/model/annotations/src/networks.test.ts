import { parseIpList } from '@kube-ovn/ip'
import { expect, it } from 'vitest'
import { AnnotationInvalidError } from './errors.ts'
import { networkAnnotations } from './networks.ts'

const { further } = networkAnnotations

it.each([
  ['a name', 'net1', [{ name: 'net1' }]],
  ['a name with its namespace', 'default/net1', [{ namespace: 'default', name: 'net1' }]],
  ['a NIC', 'net1@eth9', [{ name: 'net1', interface: 'eth9' }]],
  [
    'several',
    'default/net1@a, net2 ,other/net1@b',
    [
      { namespace: 'default', name: 'net1', interface: 'a' },
      { name: 'net2' },
      { namespace: 'other', name: 'net1', interface: 'b' },
    ],
  ],
  [
    'JSON',
    '[{"name":"net1","namespace":"default","interface":"eth9","ips":["10.1.0.5/24","fd00::5"],"mac":"02-00-00-00-00-05"},{"name":"net2"}]',
    [
      {
        name: 'net1',
        namespace: 'default',
        interface: 'eth9',
        addresses: parseIpList('10.1.0.5,fd00::5'),
        mac: '02-00-00-00-00-05',
      },
      { name: 'net2' },
    ],
  ],
  ['a single JSON object', '{"name":"net1"}', [{ name: 'net1' }]],
  ['nothing', '', []],
])('reads %s', (_name, text, want) => {
  const selections = further.parse(text)
  expect(selections).toEqual(want)
  expect(further.parse(further.format(selections))).toEqual(want)
})

it.each([
  ['JSON that is none', '[{"name":'],
  ['an element without a name', '[{"namespace":"default"}]'],
  ['an element that is no object', '["net1"]'],
  ['an address that is none', '[{"name":"net1","ips":["10.1.0"]}]'],
  ['two addresses of a family', '[{"name":"net1","ips":["10.1.0.5","10.1.0.6"]}]'],
  ['a MAC address that is none', '[{"name":"net1","mac":"zz"}]'],
  ['too many slashes', 'a/b/c'],
])('refuses %s', (_name, text) => {
  expect(() => further.parse(text)).toThrow(AnnotationInvalidError)
})
