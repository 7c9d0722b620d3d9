import { ipResource } from '@kube-ovn/kube-api'
import { ip, vip } from '@kube-ovn/testing-builders'
import { expect, it } from 'vitest'
import { concerned } from '@kube-ovn/domains-control/testing/concerned'
import { stillWorld } from '@kube-ovn/domains-control/testing/still-world'
import { vip as feature } from './feature.ts'

it('looks again when the record of its name, or of the pod of its name, is that of another NIC', () => {
  const vips = ['web', 'other', 'node-x.y'].map((name) => vip({ name, subnet: 'blue' }))
  const world = stillWorld({ vips }, {})
  const record = (podName: string) => ip({ name: 'node-x.y', subnet: 'blue', podName })
  expect(concerned(feature, ipResource, record('web'), record('other'), world)).toEqual([
    'node-x.y',
    'web',
    'other',
  ])
  expect(concerned(feature, ipResource, record('web'), record('web'), world)).toEqual([])
})
