import { describe, expect, it } from 'vitest'
import { parseAttachmentRequest, parseCollectionRequest, parseRemovalRequest } from './requests.ts'

const upstream = {
  cni_type: 'kube-ovn',
  pod_name: 'web-0',
  pod_namespace: 'shop',
  container_id: '0123456789abcdef',
  net_ns: '/var/run/netns/cni-1',
  if_name: 'eth0',
  provider: 'ovn',
  routes: null,
  dns: { nameservers: null },
}

describe('parseAttachmentRequest', () => {
  it('reads what upstream’s plugin sends', () => {
    expect(parseAttachmentRequest(upstream)).toEqual({
      podNamespace: 'shop',
      podName: 'web-0',
      podUid: '',
      containerId: '0123456789abcdef',
      ifName: 'eth0',
      netns: '/var/run/netns/cni-1',
      provider: 'ovn',
      network: 'kube-ovn',
      routes: [],
    })
  })

  it.each([
    ['a container id that is a path', { ...upstream, container_id: '../../etc' }, 'container_id'],
    ['an interface name that is too long', { ...upstream, if_name: 'sixteen-letters-' }, 'if_name'],
    ['no pod', { ...upstream, pod_name: '' }, 'pod_name'],
    ['no namespace for ADD', { ...upstream, net_ns: '' }, 'net_ns'],
    ['what is no object', [], ''],
  ])('refuses %s and names the field', (_name, body, field) => {
    expect(parseAttachmentRequest(body)).toEqual({ refusal: expect.stringContaining(field) })
  })
})

describe('parseRemovalRequest', () => {
  it('needs the container and the interface alone', () => {
    const { container_id, if_name } = upstream
    expect(parseRemovalRequest({ container_id, if_name })).toMatchObject({
      ...{ containerId: '0123456789abcdef', ifName: 'eth0', netns: '', podName: '', podNamespace: '' },
      ...{ provider: 'ovn' },
    })
    expect(parseRemovalRequest({ ...upstream, net_ns: '' })).toMatchObject({ netns: '', podName: 'web-0' })
    expect(parseRemovalRequest({ if_name })).toEqual({ refusal: expect.stringContaining('container_id') })
  })
})

describe('parseCollectionRequest', () => {
  it('reads the valid attachments', () => {
    const body = { network: 'kube-ovn', valid_attachments: [{ container_id: 'a', if_name: 'eth0' }] }
    expect(parseCollectionRequest(body)).toEqual({
      network: 'kube-ovn',
      valid: [{ containerId: 'a', ifName: 'eth0' }],
    })
  })

  it('refuses a list that is missing, because an empty one removes everything', () => {
    expect(parseCollectionRequest({ network: 'kube-ovn' })).toEqual({
      refusal: expect.stringContaining('valid_attachments'),
    })
  })
})
