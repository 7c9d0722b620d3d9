import type { LabelSelector } from '@kube-ovn/label-selector'
import { firewallGroupName } from '@kube-ovn/ovn-names'
import { groupTable, rowTable, selectionTable } from '@kube-ovn/tables'
import { nodes } from '../sources.ts'
import { nodeAddresses } from '../topology/addresses-of-nodes.ts'
import { selectorsOf } from './policy-selectors.ts'
import { readFirewalls } from './read-firewalls.ts'

/** Each of them is for all pods of its namespace. */
export const firewallSelectors = groupTable({
  name: 'egress-firewall-selectors',
  of: readFirewalls,
  by: 'key',
  rows: (members) =>
    [...members.values()].flatMap(({ key, namespace, isInEffect }) =>
      selectorsOf({
        ...{ key, namespace, rules: {}, setName: () => '' },
        subject: isInEffect ? { pods: {}, namespaces: undefined } : undefined,
        share: {
          ...{ kind: 'firewall', policy: key, providers: undefined },
          group: firewallGroupName(namespace),
        },
      }),
    ),
})

interface NodeSelector {
  readonly selector: LabelSelector
}

/** Selectors of nodes that rules are about, by `namespace/name/rule`. */
const nodeSelectors = groupTable({
  name: 'egress-firewall-node-selectors',
  of: readFirewalls,
  by: 'key',
  rows: (members) =>
    [...members.values()].flatMap(({ key, firewall: { rules } }) =>
      rules.flatMap(({ to }, rule): readonly (readonly [string, NodeSelector])[] =>
        to.kind === 'nodes' ? [[`${key}/${rule}`, { selector: to.selector }]] : [],
      ),
    ),
})

const selectedNodes = selectionTable({
  name: 'egress-firewall-nodes',
  objects: nodes,
  object: ({ metadata }) => ({ labels: metadata.labels ?? {} }),
  selectors: nodeSelectors,
  selector: ({ selector }) => ({ selector }),
})

/** Addresses of the nodes that the rules of each are about, in the order of the rules. */
export const firewallNodes = rowTable({
  name: 'egress-firewall-node-addresses',
  of: readFirewalls,
  reads: { selectedNodes, nodeAddresses },
  row: ({ firewall: { rules } }, { selectedNodes, nodeAddresses }, key): readonly (readonly string[])[] =>
    rules.map(({ to }, rule) =>
      to.kind === 'nodes'
        ? selectedNodes
            .keys('selector', `${key}/${rule}`)
            .flatMap((node) => nodeAddresses.get(node) ?? [])
            .map(({ address }) => address)
        : [],
    ),
})
