import { spreadConnections } from './control-routes.ts'
import { containerPreparation, renderMachineScript } from './shell-script.ts'
import { apiPort, ofStack, serviceRange, type Topology } from './topology.ts'

/** Where the machines of the lab find what the lab wrote for them. */
export const configurationDirectory = '/etc/kubernetes'
export const programDirectory = '/opt/kubernetes/bin'

const pki = `${configurationDirectory}/pki`

/**
 * A sixth of what the API server does under load is to look for garbage. Processors are what a small machine lacks, not memory.
 */
const fewerCollections = 'export GOGC=400'

/**
 * Renders the script of the control machine: etcd (without fsync: nothing here outlives the machine), the API server with an audit
 * log, from which API writes are counted, the controller manager and the scheduler.
 */
export function renderControlScript({ stack, podRange }: Topology, address: string): string {
  const serviceRanges = ofStack(stack, serviceRange).join(',')
  return renderMachineScript(
    [...containerPreparation, ...spreadConnections, fewerCollections],
    [
      {
        name: 'etcd',
        command: ['etcd', '--unsafe-no-fsync', '--data-dir=/var/lib/etcd', '--log-level=warn'],
      },
      { name: 'kube-apiserver', command: apiServerCommand(address, serviceRanges) },
      {
        name: 'kube-controller-manager',
        command: controllerManagerCommand(ofStack(stack, podRange).join(','), serviceRanges),
      },
      {
        name: 'kube-scheduler',
        command: withKubeconfig('kube-scheduler', 'scheduler', ['--leader-elect=false']),
      },
    ],
  )
}

function apiServerCommand(address: string, serviceRanges: string): string[] {
  return [
    `${programDirectory}/kube-apiserver`,
    `--advertise-address=${address}`,
    '--bind-address=::',
    `--secure-port=${apiPort}`,
    '--etcd-servers=http://127.0.0.1:2379',
    `--service-cluster-ip-range=${serviceRanges}`,
    '--allow-privileged=true',
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    // To the pods of a Service itself: kube-proxy does not run here.
    '--enable-aggregator-routing=true',
    `--client-ca-file=${pki}/ca.crt`,
    `--tls-cert-file=${pki}/apiserver.crt`,
    `--tls-private-key-file=${pki}/apiserver.key`,
    `--kubelet-certificate-authority=${pki}/ca.crt`,
    `--kubelet-client-certificate=${pki}/apiserver-kubelet.crt`,
    `--kubelet-client-key=${pki}/apiserver-kubelet.key`,
    '--kubelet-preferred-address-types=InternalIP',
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-key-file=${pki}/sa.pub`,
    `--service-account-signing-key-file=${pki}/sa.key`,
    `--requestheader-client-ca-file=${pki}/ca.crt`,
    // The authority is the same as for clients, so the name must tell them apart.
    '--requestheader-allowed-names=front-proxy',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--proxy-client-cert-file=${pki}/front-proxy.crt`,
    `--proxy-client-key-file=${pki}/front-proxy.key`,
    `--audit-policy-file=${configurationDirectory}/audit-policy.yaml`,
    '--audit-log-path=/var/log/lab/audit.log',
    '--audit-log-mode=blocking',
    // Megabytes: readers follow one file by position.
    '--audit-log-maxsize=10000',
  ]
}

function controllerManagerCommand(podRanges: string, serviceRanges: string): string[] {
  return withKubeconfig('kube-controller-manager', 'controller-manager', [
    '--leader-elect=false',
    `--cluster-cidr=${podRanges}`,
    `--service-cluster-ip-range=${serviceRanges}`,
    '--use-service-account-credentials=true',
    `--service-account-private-key-file=${pki}/sa.key`,
    `--root-ca-file=${pki}/ca.crt`,
    `--cluster-signing-cert-file=${pki}/ca.crt`,
    `--cluster-signing-key-file=${pki}/ca.key`,
  ])
}

function withKubeconfig(program: string, identity: string, more: readonly string[]): string[] {
  const kubeconfig = `${configurationDirectory}/${identity}.kubeconfig`
  return [
    `${programDirectory}/${program}`,
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    ...more,
  ]
}

/** One line for each request when it is done, without bodies: who, what, result, when. */
export const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived', 'ResponseStarted'],
  rules: [{ level: 'Metadata' }],
}
