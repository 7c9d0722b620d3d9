import type { MatrixRuleInput } from './declaration.ts'

const pods: MatrixRuleInput['from'] = [
  { namespace: 'shop', pods: 'app=web' },
  { namespace: 'stock', pods: 'app=db' },
]

/** What must hold of the six pods of example `01-two-subnets`: they reach each other, the nodes, the world outside and Services. */
export const exampleMatrix: readonly MatrixRuleInput[] = [
  { name: 'pods reach each other', from: pods, to: pods, by: ['ping', 'tcp', 'udp'] },
  { name: 'pods reach what pods serve', from: pods, to: pods, by: ['http'], port: 8080 },
  { name: 'nodes reach pods', from: ['nodes'], to: pods, by: ['ping', 'tcp'] },
  { name: 'pods reach nodes', from: pods, to: ['nodes'], by: ['ping', 'tcp'] },
  {
    name: 'pods reach the outside host',
    from: pods,
    to: ['outside'],
    by: ['tcp', 'udp'],
    expect: { source: 'node' },
  },
  {
    name: 'pods reach a Service',
    from: pods,
    to: [{ namespace: 'shop', service: 'web', port: 80 }],
    by: ['http'],
  },
  {
    name: 'pods reach CoreDNS',
    from: pods,
    to: [{ namespace: 'kube-system', service: 'kube-dns', port: 53 }],
    by: ['dns'],
  },
]
