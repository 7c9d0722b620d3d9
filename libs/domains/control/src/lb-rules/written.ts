import { endpointsLabel, serviceAnnotations } from '@kube-ovn/annotations'
import { apiVersion, type LbRule } from '@kube-ovn/kube-api'
import type { Resource } from '@kube-ovn/kube'
import { ruleServiceName, type LbRuleKind } from '../services/made-services.ts'

/** Examples of what is written of a rule of a kind. */
export function writtenOfRule(kind: LbRuleKind) {
  const metadata = madeMetadata(kind.resource, ruleServiceName(kind, 'web'))
  const { switchLbVip, routerLbVip, logicalRouter, logicalSwitch, healthCheck } = serviceAnnotations
  const keys = [switchLbVip, routerLbVip, logicalRouter, logicalSwitch, healthCheck].map(({ key }) => key)
  const service = {
    metadata: { ...metadata, annotations: Object.fromEntries(keys.map((key) => [key, 'text'])) },
    spec: {
      ...{ type: 'ClusterIP', sessionAffinity: 'ClientIP', selector: { app: 'web' } },
      ...{ ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' },
      ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }],
    },
  }
  const endpoints = {
    metadata: { ...metadata, labels: { [endpointsLabel.managedBy]: 'us' } },
    subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ name: 'http', port: 8080, protocol: 'TCP' }] }],
  }
  const status = { service: 'shop/web', ports: '80', observedGeneration: 1, conditions: [{ type: 'Ready' }] }
  return { service, endpoints, rule: { metadata: { name: 'web' }, status } }
}

function madeMetadata({ kind }: Resource<LbRule>, name: string) {
  return { namespace: 'shop', name, ownerReferences: [{ apiVersion, kind, name: 'web', uid: '1' }] }
}
