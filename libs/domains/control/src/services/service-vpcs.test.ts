import { IndexedStore, objectKey } from '@kube-ovn/kube'
import type { Endpoint, Pod } from '@kube-ovn/kube-api/core'
import { endpointSlice, pod, service } from '@kube-ovn/testing-builders'
import { describe, expect, it } from 'vitest'
import { watched } from '../watched.ts'
import { chooseVpc } from './service-vpcs.ts'

function placed(
  name: string,
  address: string,
  vpc: string | undefined,
  fields: Parameters<typeof pod>[0] = {},
): Pod {
  const annotations = {
    'ovn.kubernetes.io/allocated': 'true',
    'ovn.kubernetes.io/ip_address': address,
    'ovn.kubernetes.io/logical_switch': 'some',
    ...(vpc === undefined ? {} : { 'ovn.kubernetes.io/logical_router': vpc }),
  }
  return pod({ name, node: 'n1', annotations, ...fields })
}

const red1 = placed('red1', '10.30.0.2,fd00:10:30::2', 'red')
const blue1 = placed('blue1', '10.31.0.2', 'blue')
const underlay = placed('underlay', '172.20.0.9', undefined)
const inShop = placed('ended', '10.31.0.2', 'green', { namespace: 'shop', phase: 'Failed' })
const ended: Pod = { ...inShop, spec: { ...inShop.spec, restartPolicy: 'Never' } }
const second = pod({
  name: 'second',
  node: 'n1',
  annotations: {
    'net.default.ovn.kubernetes.io/allocated': 'true',
    'net.default.ovn.kubernetes.io/ip_address': '10.40.0.2',
    'net.default.ovn.kubernetes.io/logical_router': 'red',
    'ovn.kubernetes.io/allocated': 'true',
    'ovn.kubernetes.io/ip_address': 'nonsense,10.16.0.9',
    'ovn.kubernetes.io/logical_router': 'ovn-cluster',
  },
})

function choice(
  annotations: Readonly<Record<string, string>>,
  endpoints: readonly (string | Endpoint)[],
  namespace = 'default',
): string {
  const pods = new IndexedStore<Pod>(watched.pods.indexes)
  for (const one of [red1, blue1, underlay, ended, second]) pods.put(objectKey(one), one)
  const views = {
    pods: {
      get: (key: string) => pods.get(key),
      find: (index: string, value: string) => pods.find(index, value),
      some: (index: string, value: string) => pods.find(index, value).length > 0,
    },
  }
  const of = service({ annotations, namespace })
  const chosen = chooseVpc(of, [endpointSlice({ namespace, endpoints })], views)
  return chosen === undefined ? '' : `${chosen.vpc} by ${chosen.by}`
}

const behind = (name: string, address: string, namespace?: string): Endpoint => ({
  addresses: [address],
  targetRef: { kind: 'Pod', name, ...(namespace === undefined ? {} : { namespace }) },
})
const red = behind('red1', '10.30.0.2')
const blue = behind('blue1', '10.31.0.2')
const vpc = (name: string) => ({ 'ovn.kubernetes.io/vpc': name })
const named = {
  'ovn.kubernetes.io/logical_router': 'green',
  'ovn.kubernetes.io/logical_switch': 'green1',
}

describe('the VPC of a Service', () => {
  it.each<{
    what: string
    annotations?: Readonly<Record<string, string>>
    endpoints?: readonly (string | Endpoint)[]
    want: string
  }>([
    { what: 'of which nothing is known', want: '' },
    { what: 'of a Pod of it', endpoints: [red], want: 'red by backends' },
    {
      what: 'of a Pod of it, by its IPv6 address',
      endpoints: [behind('red1', 'fd00:10:30:0::2')],
      want: 'red by backends',
    },
    { what: 'of a Pod that has the address', endpoints: ['10.30.0.2'], want: 'red by backends' },
    {
      what: 'of the NIC that has the address',
      endpoints: [behind('second', '10.40.0.2')],
      want: 'red by backends',
    },
    { what: 'of the other NIC', endpoints: [behind('second', '10.16.0.9')], want: 'ovn-cluster by backends' },
    {
      what: 'of the first that is in one',
      endpoints: ['192.0.2.1', behind('underlay', '172.20.0.9'), blue],
      want: 'blue by backends',
    },
    { what: 'of a Pod whose address is another one', endpoints: [behind('red1', '10.30.0.9')], want: '' },
    { what: 'of a Pod that is gone', endpoints: [behind('gone', '10.30.0.2')], want: '' },
    { what: 'written on it', annotations: vpc('blue'), endpoints: ['192.0.2.1'], want: 'blue by vpc' },
    {
      what: 'of Pods, whatever is written',
      annotations: vpc('blue'),
      endpoints: [red],
      want: 'red by backends',
    },
    { what: 'of the first of several', endpoints: [red, blue], want: 'red by backends' },
    {
      what: 'in which it was, of several',
      annotations: vpc('blue'),
      endpoints: [red, blue],
      want: 'blue by backends',
    },
    {
      what: 'that it names with a Subnet',
      annotations: { ...named, ...vpc('blue') },
      endpoints: [red],
      want: 'green by logicalRouter',
    },
    {
      what: 'of Pods when the Subnet is empty',
      annotations: { ...named, 'ovn.kubernetes.io/logical_switch': '' },
      endpoints: [red],
      want: 'red by backends',
    },
    { what: 'empty', annotations: vpc(''), want: '' },
  ])('is the one $what', ({ annotations = {}, endpoints = [], want }) => {
    expect(choice(annotations, endpoints)).toBe(want)
  })

  it('is not that of a Pod of another namespace that happens to have the address, nor of one that has ended', () => {
    expect(choice({}, ['10.31.0.2'], 'shop')).toBe('')
    expect(choice({}, [behind('red1', '10.30.0.2', 'default')], 'shop')).toBe('red by backends')
  })
})
