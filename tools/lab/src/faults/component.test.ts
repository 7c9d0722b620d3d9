import { describe, expect, it } from 'vitest'
import { components, componentTraits } from './component.ts'

describe('components', () => {
  it.each([
    ['node /kube-ovn/controller.mjs --default-ls=ovn-default', 'controller'],
    ['node /kube-ovn/cni-agent.mjs', 'agent'],
    ['ovs-vswitchd unix:/var/run/openvswitch/db.sock -vconsole:emer', 'vswitchd'],
    ['ovsdb-server /etc/openvswitch/conf.db -vconsole:emer', 'ovsdb-server'],
    ['ovsdb-server -vconsole:off --remote=punix:/run/ovn/ovnnb_db.sock /etc/ovn/ovnnb_db.db', 'northbound'],
    ['ovsdb-server -vconsole:off /etc/ovn/ovnsb_db.db', 'southbound'],
    ['ovn-northd -vconsole:emer', 'northd'],
    ['/opt/kubernetes/bin/kubelet --config=/etc/kubernetes/kubelet.yaml', 'kubelet'],
    ['containerd --config /etc/kubernetes/containerd.toml', 'containerd'],
    ['etcd --unsafe-no-fsync', 'etcd'],
  ])('"%s" is the %s, and nothing else', (text, name) => {
    const command = text.split(' ')
    expect(components.filter((component) => componentTraits[component].matches(command))).toEqual([name])
  })

  it.each([
    'ovs-vswitchd: monitoring pid 42 (healthy)',
    'tail -f /var/log/ovn/ovn-controller.log',
    'sh /etc/kubernetes/start containerd',
    '/usr/bin/containerd-shim-runc-v2 -namespace k8s.io',
  ])('"%s" is none', (text) => {
    const isMatch = components.some((component) => componentTraits[component].matches(text.split(' ')))
    expect(isMatch).toBe(false)
  })
})
