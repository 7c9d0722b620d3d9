import { ensureLabImage } from './docker/image.ts'
import type { Cluster } from './cluster/cluster.ts'
import { dnsServiceAddress, ofStack, worldAddress, worldName } from './cluster/topology.ts'
import { applyAll, parseManifests } from './kubernetes/manifests.ts'
import { untilRolledOut } from './kubernetes/workloads.ts'

/** Runs CoreDNS as pods of the cluster's network, under the address that kubelet tells every pod. */
export async function installDns(cluster: Cluster): Promise<void> {
  const image = await ensureLabImage('coredns')
  await applyAll(
    cluster.api,
    parseManifests(renderDns(image, ofStack(cluster.topology.stack, dnsServiceAddress))),
  )
  await untilRolledOut(cluster.api, 'deployments', 'kube-system', 'coredns')
}

function renderDns(image: string, addresses: readonly string[]): string {
  return `
apiVersion: v1
kind: ServiceAccount
metadata: { name: coredns, namespace: kube-system }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: system:coredns }
rules:
  - { apiGroups: [''], resources: [endpoints, services, pods, namespaces], verbs: [list, watch] }
  - { apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [list, watch] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: system:coredns }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: system:coredns }
subjects: [{ kind: ServiceAccount, name: coredns, namespace: kube-system }]
---
apiVersion: v1
kind: ConfigMap
metadata: { name: coredns, namespace: kube-system }
data:
  # Nothing is forwarded: no question leaves the lab.
  Corefile: |
    .:53 {
      errors
      health
      ready
      hosts {
        ${worldAddress.ipv4} ${worldName}
        ${worldAddress.ipv6} ${worldName}
        fallthrough
      }
      kubernetes cluster.local in-addr.arpa ip6.arpa {
        pods insecure
        ttl 5
      }
      cache 5
    }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: coredns, namespace: kube-system, labels: { k8s-app: kube-dns } }
spec:
  replicas: 1
  selector: { matchLabels: { k8s-app: kube-dns } }
  template:
    metadata: { labels: { k8s-app: kube-dns } }
    spec:
      serviceAccountName: coredns
      dnsPolicy: Default
      terminationGracePeriodSeconds: 1
      tolerations: [{ operator: Exists }]
      containers:
        - name: coredns
          image: ${image}
          args: [-conf, /etc/coredns/Corefile]
          volumeMounts: [{ name: config, mountPath: /etc/coredns }]
          readinessProbe: { httpGet: { path: /ready, port: 8181 }, periodSeconds: 1 }
      volumes: [{ name: config, configMap: { name: coredns } }]
---
apiVersion: v1
kind: Service
metadata: { name: kube-dns, namespace: kube-system, labels: { k8s-app: kube-dns } }
spec:
  clusterIP: '${addresses[0]}'
  clusterIPs: ${JSON.stringify(addresses)}
  ipFamilyPolicy: ${addresses.length > 1 ? 'RequireDualStack' : 'SingleStack'}
  selector: { k8s-app: kube-dns }
  ports:
    - { name: dns, port: 53, protocol: UDP }
    - { name: dns-tcp, port: 53, protocol: TCP }
`
}
