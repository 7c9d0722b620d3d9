import type { KubeObject } from './object.ts'

/*
 * Kubernetes' own kinds, reduced to the fields that are read here. Documentation of each field is Kubernetes' own:
 * https://kubernetes.io/docs/reference/kubernetes-api/
 */

export interface Condition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string
}

export interface ContainerPort {
  readonly name?: string
  readonly containerPort: number
  readonly protocol?: 'TCP' | 'UDP' | 'SCTP'
  readonly hostPort?: number
}

export interface Container {
  readonly name: string
  readonly image?: string
  readonly ports?: readonly ContainerPort[]
  /** Only of init containers: `Always` makes one a sidecar. */
  readonly restartPolicy?: string
  readonly livenessProbe?: Handler
  readonly readinessProbe?: Handler
  readonly startupProbe?: Handler
  readonly lifecycle?: { readonly postStart?: Handler; readonly preStop?: Handler }
}

/** What the kubelet asks a container, or tells it, over the network. */
export interface Handler {
  readonly httpGet?: HandlerTarget
  readonly tcpSocket?: HandlerTarget
  readonly grpc?: HandlerTarget
}

export interface HandlerTarget {
  /** A number, or the name of a port of the container. */
  readonly port?: number | string
  /** In the place of the Pod's address. */
  readonly host?: string
}

export interface Pod extends KubeObject {
  readonly spec: {
    readonly nodeName?: string
    readonly hostNetwork?: boolean
    readonly hostname?: string
    readonly subdomain?: string
    readonly containers: readonly Container[]
    readonly initContainers?: readonly Container[]
    readonly restartPolicy?: string
    readonly serviceAccountName?: string
    readonly terminationGracePeriodSeconds?: number
  }
  readonly status?: {
    readonly phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown'
    readonly reason?: string
    readonly hostIP?: string
    readonly hostIPs?: readonly { readonly ip: string }[]
    readonly podIP?: string
    readonly podIPs?: readonly { readonly ip: string }[]
    readonly conditions?: readonly Condition[]
    readonly containerStatuses?: readonly ContainerStatus[]
  }
}

export interface ContainerStatus {
  readonly name: string
  readonly ready?: boolean
  readonly containerID?: string
  readonly restartCount?: number
}

export interface Namespace extends KubeObject {
  readonly spec?: { readonly finalizers?: readonly string[] }
  readonly status?: { readonly phase?: 'Active' | 'Terminating' }
}

export interface Node extends KubeObject {
  readonly spec?: {
    readonly podCIDR?: string
    readonly podCIDRs?: readonly string[]
    readonly providerID?: string
    readonly unschedulable?: boolean
    readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[]
  }
  readonly status?: {
    readonly addresses?: readonly NodeAddress[]
    readonly conditions?: readonly Condition[]
    readonly nodeInfo?: {
      readonly kernelVersion?: string
      readonly osImage?: string
      readonly architecture?: string
    }
  }
}

export interface NodeAddress {
  readonly type: 'InternalIP' | 'ExternalIP' | 'Hostname' | 'InternalDNS' | 'ExternalDNS'
  readonly address: string
}

/** What a workload makes its pods of. */
export interface PodTemplate {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec?: { readonly containers?: readonly Pick<Container, 'name' | 'image'>[] }
}

/** Makes pods of a template: a Deployment, StatefulSet, DaemonSet or Job. */
export interface Workload extends KubeObject {
  readonly spec?: { readonly template?: PodTemplate }
}

/** Makes Jobs, whose annotations are those of its `spec.jobTemplate.metadata`. */
export interface CronJob extends KubeObject {
  readonly spec?: {
    readonly schedule?: string
    readonly jobTemplate?: Pick<Workload, 'spec'> & Pick<PodTemplate, 'metadata'>
  }
}

export interface StatefulSet extends Workload {
  readonly spec?: {
    /** 1 when absent. */
    readonly replicas?: number
    readonly ordinals?: { readonly start?: number }
    readonly template?: PodTemplate
  }
}

export interface ServicePort {
  readonly name?: string
  readonly protocol?: 'TCP' | 'UDP' | 'SCTP'
  readonly appProtocol?: string
  readonly port: number
  readonly targetPort?: number | string
  readonly nodePort?: number
}

export interface Service extends KubeObject {
  readonly spec?: {
    readonly type?: 'ClusterIP' | 'NodePort' | 'LoadBalancer' | 'ExternalName'
    readonly clusterIP?: string
    readonly clusterIPs?: readonly string[]
    readonly externalIPs?: readonly string[]
    readonly loadBalancerIP?: string
    readonly loadBalancerClass?: string
    readonly loadBalancerSourceRanges?: readonly string[]
    readonly ports?: readonly ServicePort[]
    readonly selector?: Readonly<Record<string, string>>
    readonly sessionAffinity?: 'None' | 'ClientIP'
    readonly sessionAffinityConfig?: { readonly clientIP?: { readonly timeoutSeconds?: number } }
    readonly externalTrafficPolicy?: 'Cluster' | 'Local'
    readonly internalTrafficPolicy?: 'Cluster' | 'Local'
    readonly trafficDistribution?: string
    readonly healthCheckNodePort?: number
    readonly ipFamilies?: readonly ('IPv4' | 'IPv6')[]
    readonly ipFamilyPolicy?: 'SingleStack' | 'PreferDualStack' | 'RequireDualStack'
    readonly publishNotReadyAddresses?: boolean
    readonly allocateLoadBalancerNodePorts?: boolean
  }
  readonly status?: {
    readonly loadBalancer?: {
      readonly ingress?: readonly {
        readonly ip?: string
        readonly hostname?: string
        readonly ipMode?: 'VIP' | 'Proxy'
      }[]
    }
    readonly conditions?: readonly Condition[]
  }
}

/** Points from an endpoint to what is behind it, or from an event to what it is about. */
export interface ObjectReference {
  readonly apiVersion?: string
  readonly kind?: string
  readonly namespace?: string
  readonly name?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly fieldPath?: string
}

export interface EndpointAddress {
  readonly ip: string
  readonly hostname?: string
  readonly nodeName?: string
  readonly targetRef?: ObjectReference
}

export interface Endpoints extends KubeObject {
  readonly subsets?: readonly {
    readonly addresses?: readonly EndpointAddress[]
    readonly notReadyAddresses?: readonly EndpointAddress[]
    readonly ports?: readonly { readonly name?: string; readonly port: number; readonly protocol?: string }[]
  }[]
}

export interface EndpointSlice extends KubeObject {
  readonly addressType: 'IPv4' | 'IPv6' | 'FQDN'
  /** `null` when there are none: the server prints an empty list so. */
  readonly endpoints: readonly Endpoint[] | null
  readonly ports?:
    | readonly {
        readonly name?: string
        readonly port?: number
        readonly protocol?: 'TCP' | 'UDP' | 'SCTP'
      }[]
    | null
}

export interface Endpoint {
  readonly addresses: readonly string[]
  readonly conditions?: {
    readonly ready?: boolean
    readonly serving?: boolean
    readonly terminating?: boolean
  }
  readonly hostname?: string
  readonly nodeName?: string
  readonly zone?: string
  readonly targetRef?: ObjectReference
  readonly hints?: {
    readonly forZones?: readonly { readonly name: string }[]
    readonly forNodes?: readonly { readonly name: string }[]
  }
}

export interface ServiceCidr extends KubeObject {
  readonly spec?: { readonly cidrs?: readonly string[] }
  readonly status?: { readonly conditions?: readonly Condition[] }
}

/** The part of an OpenAPI v3 schema that tells which fields there are. */
export interface FieldSchema {
  readonly properties?: Readonly<Record<string, FieldSchema>>
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
}

export interface CustomResourceDefinition extends KubeObject {
  readonly spec: {
    readonly group: string
    readonly scope: 'Namespaced' | 'Cluster'
    readonly names: { readonly kind: string; readonly plural: string }
    readonly versions: readonly {
      readonly name: string
      readonly served: boolean
      readonly schema?: { readonly openAPIV3Schema?: FieldSchema }
    }[]
  }
  readonly status?: { readonly conditions?: readonly Condition[] }
}

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
  readonly binaryData?: Readonly<Record<string, string>>
  readonly immutable?: boolean
}

export interface CoreEvent extends KubeObject {
  readonly involvedObject: ObjectReference
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  readonly count?: number
  readonly firstTimestamp?: string
  readonly lastTimestamp?: string
  readonly source?: { readonly component?: string; readonly host?: string }
  readonly reportingComponent?: string
  readonly reportingInstance?: string
}

export interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string
    readonly leaseDurationSeconds?: number
    readonly acquireTime?: string
    readonly renewTime?: string
    readonly leaseTransitions?: number
  }
}

/** Selects objects by their labels; an empty one selects all. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly {
    readonly key: string
    readonly operator: string
    readonly values?: readonly string[]
  }[]
}

export interface NetworkPolicyPeer {
  readonly podSelector?: LabelSelector
  readonly namespaceSelector?: LabelSelector
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] }
}

export interface NetworkPolicyPort {
  /** TCP when absent. */
  readonly protocol?: string
  /** All when absent; a text is the name of a port of containers. */
  readonly port?: number | string
  readonly endPort?: number
}

export interface NetworkPolicyIngressRule {
  readonly from?: readonly NetworkPolicyPeer[]
  readonly ports?: readonly NetworkPolicyPort[]
}

export interface NetworkPolicyEgressRule {
  readonly to?: readonly NetworkPolicyPeer[]
  readonly ports?: readonly NetworkPolicyPort[]
}

export interface NetworkPolicy extends KubeObject {
  readonly spec?: {
    readonly podSelector?: LabelSelector
    readonly policyTypes?: readonly string[]
    readonly ingress?: readonly NetworkPolicyIngressRule[]
    readonly egress?: readonly NetworkPolicyEgressRule[]
  }
}
