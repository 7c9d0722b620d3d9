{{/* The image of a component: (list $ .Values.central). */}}
{{- define "kube-ovn.image" -}}
{{- $root := index . 0 -}}
{{- $image := (index . 1).image -}}
{{- $registry := $image.registry | default $root.Values.global.registry.address -}}
{{- $tag := $image.tag | default $root.Values.global.images.kubeovn.tag | default $root.Chart.AppVersion -}}
{{- with $registry }}{{ trimSuffix "/" . }}/{{ end }}{{ $image.repository }}:{{ $tag }}
{{- end -}}

{{- define "kube-ovn.pullPolicy" -}}
{{- (index . 1).image.pullPolicy | default (index . 0).Values.image.pullPolicy -}}
{{- end -}}

{{/* Of ServiceAccounts. Each may be a name, as in Kube-OVN's chart, or an object as Kubernetes has it. */}}
{{- define "kube-ovn.imagePullSecrets" -}}
{{- with .Values.global.registry.imagePullSecrets | default list | compact }}
imagePullSecrets:
{{- range . }}
  - name: {{ if kindIs "map" . }}{{ .name | quote }}{{ else }}{{ . | quote }}{{ end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Labels by which Services and workloads select pods: the name of a workload. */}}
{{- define "kube-ovn.selectorLabels" -}}
app.kubernetes.io/name: {{ . }}
app.kubernetes.io/part-of: kube-ovn
{{- end -}}

{{/* All labels of pods: (list name legacyName). Tools select by the legacy ones. */}}
{{- define "kube-ovn.podLabels" -}}
{{ include "kube-ovn.selectorLabels" (index . 0) }}
app: {{ index . 1 }}
component: network
type: infra
{{- end -}}

{{/* v4, v6 or v4,v6 of a pair, as the stack has it: (list $ .Values.networking.pods.cidr). */}}
{{- define "kube-ovn.pair" -}}
{{- $stack := (index . 0).Values.networking.stack -}}
{{- $pair := index . 1 -}}
{{- if eq $stack "IPv4" -}}
{{- $pair.v4 -}}
{{- else if eq $stack "IPv6" -}}
{{- $pair.v6 -}}
{{- else if eq $stack "Dual" -}}
{{- list $pair.v4 $pair.v6 | compact | join "," -}}
{{- else -}}
{{- fail (printf "networking.stack %q is not allowed: write IPv4, IPv6 or Dual" $stack) -}}
{{- end -}}
{{- end -}}

{{/* Whether OVN leads who asks node ports, where that is possible. */}}
{{- define "kube-ovn.nodePortsByOvn" -}}
{{- if and .Values.features.ovnLbNodePorts (ne .Values.features.loadBalancerLayout "per-service") -}}
{{- fail (printf "features.ovnLbNodePorts is not possible with features.loadBalancerLayout %q: write per-service there, or switch it off" .Values.features.loadBalancerLayout) -}}
{{- end -}}
{{- .Values.features.ovnLbNodePorts -}}
{{- end -}}

{{/* The addresses of the nodes that host the databases, separated by commas, in the order of the nodes' names. Never none:
a Deployment of one member that knows no other would take the quorum of a cluster of several. */}}
{{- define "kube-ovn.masterAddresses" -}}
{{- $addresses := list -}}
{{- if kindIs "string" .Values.masterNodes -}}
{{- $addresses = regexSplit "[, ]+" .Values.masterNodes -1 | compact -}}
{{- else -}}
{{- $addresses = .Values.masterNodes | default list | toStrings | compact -}}
{{- end -}}
{{- if not $addresses -}}
{{- $nodes := (lookup "v1" "Node" "" "").items | default list -}}
{{- if not $nodes -}}
{{- fail "masterNodes is empty, and there is no cluster to look up the nodes of the OVN databases in, as in helm template, in a dry run and with most GitOps tools: list the addresses of these nodes in masterNodes, or render with --dry-run=server" -}}
{{- end -}}
{{- $found := dict -}}
{{- range $node := $nodes -}}
{{- $isMaster := false -}}
{{- range $key, $value := $.Values.masterNodesLabels -}}
{{- $labels := $node.metadata.labels | default dict -}}
{{- if and (hasKey $labels $key) (or (not $value) (eq (get $labels $key) (toString $value))) -}}
{{- $isMaster = true -}}
{{- end -}}
{{- end -}}
{{- if $isMaster -}}
{{- range $address := $node.status.addresses -}}
{{- if and (eq $address.type "InternalIP") (not (hasKey $found $node.metadata.name)) -}}
{{- $_ := set $found $node.metadata.name $address.address -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if not $found -}}
{{- fail (printf "No nodes found with label %s: label the nodes that are to host the OVN databases, or list their addresses in masterNodes" (toJson .Values.masterNodesLabels)) -}}
{{- end -}}
{{- range $name := keys $found | sortAlpha -}}
{{- $addresses = append $addresses (get $found $name) -}}
{{- end -}}
{{- end -}}
{{- join "," $addresses -}}
{{- end -}}

{{/* One replica for each node that hosts databases. */}}
{{- define "kube-ovn.masterCount" -}}
{{- include "kube-ovn.masterAddresses" . | splitList "," | len -}}
{{- end -}}

{{- define "kube-ovn.isUserspace" -}}
{{- if not (has .Values.ovsOvn.datapath (list "kernel" "userspace")) -}}
{{- fail (printf "ovsOvn.datapath %q is not allowed: write kernel or userspace" .Values.ovsOvn.datapath) -}}
{{- end -}}
{{- if eq .Values.ovsOvn.datapath "userspace" -}}true{{- end -}}
{{- end -}}

{{/* The NIC of the userspace data path. */}}
{{- define "kube-ovn.tunnelNic" -}}
{{- .Values.ovsOvn.tunnelNic | default .Values.agent.interface | default "" | required "ovsOvn.datapath userspace needs the NIC of the tunnels: set ovsOvn.tunnelNic or agent.interface to its name or to a prefix that it has an address in" -}}
{{- end -}}

{{/* The way to the API server of who serves its Service, and of who goes on when that is gone. */}}
{{- define "kube-ovn.apiServerEnv" -}}
{{- with .Values.agent.apiServer }}
{{- if .host }}
- { name: KUBERNETES_SERVICE_HOST, value: {{ .host | quote }} }
- { name: KUBERNETES_SERVICE_PORT, value: {{ .port | quote }} }
{{- end }}
{{- end }}
{{- end -}}

{{/* Own addresses of a pod, as its environment. */}}
{{- define "kube-ovn.podEnv" -}}
- name: POD_IP
  valueFrom: { fieldRef: { fieldPath: status.podIP } }
- name: POD_IPS
  valueFrom: { fieldRef: { fieldPath: status.podIPs } }
- name: POD_NAME
  valueFrom: { fieldRef: { fieldPath: metadata.name } }
- name: POD_NAMESPACE
  valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
- name: NODE_NAME
  valueFrom: { fieldRef: { fieldPath: spec.nodeName } }
- name: ENABLE_BIND_LOCAL_IP
  value: {{ .Values.features.ENABLE_BIND_LOCAL_IP | quote }}
{{- end -}}

{{/* How metrics and health checks are served: features.enableSecureServing. */}}
{{- define "kube-ovn.servingArgs" -}}
- --secure-serving={{ .Values.features.enableSecureServing }}
{{- if .Values.features.enableSecureServing }}
{{- with .Values.networking.tlsMinVersion }}
- --tls-min-version={{ . }}
{{- end }}
{{- with .Values.networking.tlsMaxVersion }}
- --tls-max-version={{ . }}
{{- end }}
{{- with .Values.networking.tlsCipherSuites }}
- --tls-cipher-suites={{ join "," . }}
{{- end }}
{{- if .Values.features.secureServingSecret }}
- --tls-cert-file=/var/run/serving/tls.crt
- --tls-private-key-file=/var/run/serving/tls.key
{{- end }}
{{- end }}
{{- end -}}

{{- define "kube-ovn.servingScheme" -}}
{{- if .Values.features.enableSecureServing }}HTTPS{{ else }}HTTP{{ end -}}
{{- end -}}

{{- define "kube-ovn.hasServingSecret" -}}
{{- if and .Values.features.enableSecureServing .Values.features.secureServingSecret }}true{{ end -}}
{{- end -}}

{{- define "kube-ovn.servingMount" -}}
{{- if include "kube-ovn.hasServingSecret" . }}
- { name: serving, mountPath: /var/run/serving, readOnly: true }
{{- end }}
{{- end -}}

{{/* The mode is 0400, which not all read as octal. */}}
{{- define "kube-ovn.servingVolume" -}}
{{- if include "kube-ovn.hasServingSecret" . }}
- name: serving
  secret: { secretName: {{ .Values.features.secureServingSecret }}, defaultMode: 256 }
{{- end }}
{{- end -}}

{{/* How Prometheus' operator asks a port: (list $ port). A certificate that each process makes has no authority to check it by. */}}
{{- define "kube-ovn.scraped" -}}
{{- $root := index . 0 -}}
- port: {{ index . 1 }}
  interval: 15s
  {{- if $root.Values.features.enableSecureServing }}
  scheme: https
  tlsConfig:
    {{- with $root.Values.features.secureServingSecret }}
    ca: { secret: { name: {{ . }}, key: ca.crt } }
    serverName: kube-ovn-metrics
    {{- else }}
    insecureSkipVerify: true
    {{- end }}
  {{- end }}
{{- end -}}

{{/* A volume of a directory of the host: (list name path). */}}
{{- define "kube-ovn.hostDirectory" -}}
- name: {{ index . 0 }}
  hostPath: { path: {{ index . 1 }}, type: DirectoryOrCreate }
{{- end -}}

{{/* No two pods of a workload on one node. */}}
{{- define "kube-ovn.apart" -}}
podAntiAffinity:
  requiredDuringSchedulingIgnoredDuringExecution:
    - topologyKey: kubernetes.io/hostname
      labelSelector:
        matchLabels: {{- include "kube-ovn.selectorLabels" . | nindent 10 }}
{{- end -}}

{{/* Which nodes a component runs on that belongs to the databases: those with one of masterNodesLabels, and what its own nodeAffinity requires. */}}
{{- define "kube-ovn.masterNodeTerms" -}}
{{- $values := (index . 0).Values -}}
{{- $component := index . 1 -}}
{{- if not $values.masterNodesLabels -}}
{{- fail "masterNodesLabels is empty, so that the OVN databases may run nowhere: write a label that their nodes have, e.g. kube-ovn/role: master" -}}
{{- end -}}
{{- range $key, $value := $values.masterNodesLabels }}
- matchExpressions:
    {{- if $value }}
    - { key: {{ $key | quote }}, operator: In, values: [{{ $value | quote }}] }
    {{- else }}
    - { key: {{ $key | quote }}, operator: Exists }
    {{- end }}
    {{- range $component.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution }}
    {{- toYaml .matchExpressions | nindent 4 }}
    {{- end }}
{{- end }}
{{- end -}}

{{/* What the values prefer about nodes: a component's nodeAffinity, whose weight is 100 unless given. */}}
{{- define "kube-ovn.preferredNodes" -}}
{{- range .preferredDuringSchedulingIgnoredDuringExecution }}
- weight: {{ .weight | default 100 }}
  preference:
    matchExpressions: {{- toYaml .matchExpressions | nindent 6 }}
{{- end }}
{{- end -}}

{{/* The versions of the CNI specification. One that the plugins do not speak would keep every node from being prepared. */}}
{{- define "kube-ovn.cniVersions" -}}
{{- $known := list "0.1.0" "0.2.0" "0.3.0" "0.3.1" "0.4.0" "1.0.0" "1.1.0" -}}
{{- range .Values.cni.versions -}}
{{- if not (has . $known) -}}
{{- fail (printf "cni.versions has %q, which is not allowed: write some of %s" (toString .) (join ", " $known)) -}}
{{- end -}}
{{- end -}}
{{- join "," .Values.cni.versions -}}
{{- end -}}

{{- define "kube-ovn.ipFamilyPolicy" -}}
{{- if eq .Values.networking.stack "Dual" }}
ipFamilyPolicy: PreferDualStack
{{- end }}
{{- end -}}

{{/* Annotations of an object that only exists while the chart is being uninstalled: its place in the order. */}}
{{- define "kube-ovn.hook" -}}
helm.sh/hook: post-delete
helm.sh/hook-weight: {{ . | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}

{{/* Whether the API server has admission policies, and names the node in the tokens of pods: Kubernetes 1.30. Without a
cluster no kind is known, and the version decides. */}}
{{- define "kube-ovn.hasAdmissionPolicies" -}}
{{- $capabilities := .Capabilities -}}
{{- $isServed := $capabilities.APIVersions.Has "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy" -}}
{{- $isUnknown := not ($capabilities.APIVersions.Has "v1/Node") -}}
{{- if and (semverCompare ">=1.30.0-0" $capabilities.KubeVersion.Version) (or $isServed $isUnknown) }}true{{ end -}}
{{- end -}}

{{/* A policy is about node agents and nobody else. */}}
{{- define "kube-ovn.ofAgents" -}}
- name: of-an-agent
  expression: request.userInfo.username == 'system:serviceaccount:{{ .Values.namespace }}:kube-ovn-cni'
{{- end -}}

{{/* The node of the pod to which the token of a request is bound; empty if it is bound to none. */}}
{{- define "kube-ovn.nodeOfToken" -}}
- name: node
  expression: request.userInfo.?extra[?'authentication.kubernetes.io/node-name'][?0].orValue('')
{{- end -}}

{{/* NIC of the nodes for an underlay as the default subnet, which needs one. */}}
{{- define "kube-ovn.underlayInterface" -}}
{{- $networking := .Values.networking -}}
{{- if eq $networking.networkType "vlan" -}}
{{- $networking.vlan.interfaceName | required "networking.networkType vlan needs the NIC of the nodes: set networking.vlan.interfaceName" -}}
{{- else -}}
{{- $networking.vlan.interfaceName -}}
{{- end -}}
{{- end -}}
