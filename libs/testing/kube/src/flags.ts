import type { KubeApiOptions } from './kube-api.ts'

/** Where the container has the directories of the fixtures, of which one is its own. */
export const CONTAINER_DIRECTORIES = '/run/tests'

/** Controllers whose work the product relies on; no kubelet and no scheduler, so that nothing else moves. */
const CONTROLLERS = [
  'namespace-controller',
  'serviceaccount-controller',
  'deployment-controller',
  'replicaset-controller',
  'statefulset-controller',
  'endpointslice-controller',
  'endpointslice-mirroring-controller',
  'endpoints-controller',
  'garbage-collector-controller',
]

/** APIs that neither the product nor anybody in a test has to do with: each costs a start some percent. */
const DISABLED_APIS = [
  'autoscaling/v1',
  'autoscaling/v2',
  'certificates.k8s.io/v1',
  'flowcontrol.apiserver.k8s.io/v1',
  'node.k8s.io/v1',
  'policy/v1',
  'resource.k8s.io/v1',
  'storage.k8s.io/v1',
]

/** Admission that is not for tests, and that which is about objects of {@link DISABLED_APIS}. */
const DISABLED_ADMISSION = [
  ...['ServiceAccount', 'TaintNodesByCondition', 'DefaultTolerationSeconds'],
  ...[
    'CertificateApproval',
    'CertificateSigning',
    'CertificateSubjectRestriction',
    'ClusterTrustBundleAttest',
  ],
  ...['DefaultStorageClass', 'PersistentVolumeClaimResize', 'StorageObjectInUseProtection'],
  ...['PodGroupProtection', 'RuntimeClass'],
  // Nobody has any, and the server asks itself for them with the first pod of each namespace, which waits up to 100 ms for the answer.
  ...['LimitRanger', 'ResourceQuota'],
]

/** Flags of kube-apiserver: as in the recorded cases, and quick to start. */
export function apiServerFlags(options: KubeApiOptions): string[] {
  return [
    '--etcd-servers=http://127.0.0.1:2379',
    '--etcd-compaction-interval=0',
    '--authorization-mode=RBAC',
    `--service-cluster-ip-range=${options.serviceClusterIpRange ?? '10.96.0.0/12,fd00:10:96::/112'}`,
    `--disable-admission-plugins=${DISABLED_ADMISSION.join(',')}`,
    `--runtime-config=${DISABLED_APIS.map((api) => `${api}=false`).join(',')}`,
    '--client-ca-file=ca.crt',
    '--tls-cert-file=apiserver.crt',
    '--tls-private-key-file=apiserver.key',
    '--cert-dir=/tmp',
    '--service-account-issuer=https://kubernetes.default.svc',
    '--service-account-key-file=service-account.pub',
    '--service-account-signing-key-file=service-account.key',
    '--allow-privileged=true',
    // Its bootstrap takes a second, and one client needs no fairness.
    '--enable-priority-and-fairness=false',
    '--audit-policy-file=audit-policy.json',
    '--audit-log-path=audit.log',
    '--audit-log-mode=blocking',
    // Who reads it holds the file: at 100 MB, which a worker's many tests come to, another one would be begun.
    '--audit-log-maxsize=10000',
    '--profiling=false',
    ...(options.apiServerFlags ?? []),
  ]
}

/** Flags of kube-controller-manager; none when it shall not run. */
export function controllerManagerFlags(options: KubeApiOptions): string[] {
  if (options.controllerManager !== true) return []
  return [
    '--kubeconfig=controller-manager.kubeconfig',
    `--controllers=${CONTROLLERS.join(',')}`,
    '--leader-elect=false',
    '--secure-port=0',
    '--root-ca-file=ca.crt',
    '--service-account-private-key-file=service-account.key',
    '--kube-api-qps=500',
    '--kube-api-burst=1000',
  ]
}

const READS = ['get', 'list', 'watch']

/**
 * What changes something is logged twice, when it arrives and when it is answered; of what only reads, the requests of
 * ServiceAccounts are logged, once: they show which rights are needed.
 */
export const AUDIT_POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  rules: [
    { level: 'None', nonResourceURLs: ['*'] },
    {
      level: 'Metadata',
      userGroups: ['system:serviceaccounts'],
      verbs: ['watch'],
      omitStages: ['RequestReceived', 'ResponseComplete'],
    },
    {
      level: 'Metadata',
      userGroups: ['system:serviceaccounts'],
      verbs: READS,
      omitStages: ['RequestReceived'],
    },
    { level: 'None', verbs: READS },
    { level: 'Metadata' },
  ],
}
