import type { TestNamespace } from '@kube-ovn/testing-net'
import { findBridge, integrationBridge } from '../local-ovs.ts'
import type { TestNode } from './test-node.ts'

/** Makes the links of internal ports, and takes them away, as vswitchd does. */
export function playVswitchd({ ovs, host }: Pick<TestNode, 'ovs' | 'host'>): void {
  ovs.onChange((changes) => {
    for (const { table, old, new: now } of changes) {
      if (table === 'Interface' && (now ?? old)?.type === 'internal') {
        const { name = '', mac } = now ?? old ?? {}
        if (name === integrationBridge || (old !== undefined && now !== undefined)) continue
        if (now === undefined) host.run('ip', 'link', 'del', name)
        else addInternal(host, name, mac ?? findBridge(ovs, name)?.other_config['hwaddr'])
      } else if (table === 'Bridge' && now !== undefined) {
        const { hwaddr } = now.other_config
        if (hwaddr !== undefined && old !== undefined && old.other_config['hwaddr'] !== hwaddr)
          host.run('ip', 'link', 'set', now.name, 'address', hwaddr)
      }
    }
  })
}

/** Makes a bridge, which stands for the link of an internal port. */
export function addInternal(host: TestNamespace, name: string, mac: string | undefined): void {
  host.run('ip', 'link', 'add', name, ...(mac === undefined ? [] : ['address', mac]), 'type', 'bridge')
}
