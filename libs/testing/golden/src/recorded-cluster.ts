import type { Node } from '@kube-ovn/kube'
import { nodeAnnotations } from '@kube-ovn/annotations'
import type { Profile } from './golden-case.ts'

/** Flags of the controller by which the recording was made, beside those of a case. */
export function recordedFlags(profile: Profile): readonly string[] {
  return [
    '--default-ls=ovn-default',
    '--default-gateway-check=true',
    '--default-logical-gateway=false',
    '--default-u2o-interconnection=false',
    '--default-exclude-ips=',
    '--cluster-router=ovn-cluster',
    '--node-switch=join',
    '--network-type=geneve',
    '--default-provider-name=provider',
    '--default-interface-name=',
    '--default-exchange-link-name=false',
    '--default-vlan-name=ovn-vlan',
    '--default-vlan-id=100',
    '--ls-dnat-mod-dl-dst=true',
    '--ls-ct-skip-dst-lport-ips=true',
    '--pod-nic-type=veth-pair',
    '--enable-lb=true',
    '--enable-np=true',
    '--enable-eip-snat=true',
    '--enable-external-vpc=false',
    '--enable-ecmp=false',
    '--gc-interval=360',
    '--inspect-interval=20',
    '--enable-lb-svc=false',
    '--keep-vm-ip=true',
    '--enable-metrics=true',
    '--node-local-dns-ip=',
    '--skip-conntrack-dst-cidrs=',
    '--secure-serving=false',
    '--enable-ovn-ipsec=false',
    '--enable-anp=false',
    '--enable-dns-name-resolver=false',
    '--ovsdb-con-timeout=3',
    '--ovsdb-inactivity-timeout=10',
    '--enable-live-migration-optimize=true',
    '--enable-ovn-lb-prefer-local=false',
    '--non-primary-cni-mode=false',
    '--np-enforcement=standard',
    '--image=docker.io/kubeovn/kube-ovn:v1.17.0',
    `--default-cidr=${choose(profile, '10.16.0.0/16', 'fd00:10:16::/112')}`,
    `--default-gateway=${choose(profile, '10.16.0.1', 'fd00:10:16::1')}`,
    `--node-switch-cidr=${choose(profile, '100.64.0.0/16', 'fd00:100:64::/112')}`,
    `--service-cluster-ip-range=${serviceRange(profile)}`,
  ]
}

export function serviceRange(profile: Profile): string {
  return choose(profile, '10.96.0.0/12', 'fd00:10:96::/112')
}

/** Where the recording's API server said it was. */
export function advertiseAddress(profile: Profile): string {
  return profile === 'v6' ? 'fd00:18::10' : '172.18.0.10'
}

function choose(profile: Profile, v4: string, v6: string): string {
  return profile === 'dual' ? `${v4},${v6}` : profile === 'v4' ? v4 : v6
}

/** Addresses of a node named `n<number>`, IPv4 first. */
export function nodeAddresses(name: string): readonly [string, string] {
  const number = name.slice(1)
  return [`172.18.0.1${number}`, `fd00:18::1${number}`]
}

/** A node as the recording's kubelets registered theirs. */
export function recordedNode(index: number, profile: Profile): Node {
  const name = `n${index}`
  const [v4, v6] = nodeAddresses(name)
  const addresses = profile === 'v6' ? [v6, v4] : [v4, v6]
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' },
      annotations: { [nodeAnnotations.chassis.key]: `chassis-${name}` },
    },
    status: {
      addresses: [
        ...addresses.map((address) => ({ type: 'InternalIP' as const, address })),
        { type: 'Hostname', address: name },
      ],
      conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }],
    },
  }
}
