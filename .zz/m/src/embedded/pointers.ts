/**
 * The optional scalars of built-in types that keep a zero value (`replicas: 0`, `optional: false`).
 *
 * In Kubernetes' Go types these are pointers; every other optional scalar vanishes when it is zero. OpenAPI doesn't
 * tell one from the other, so this list is written down here (k8s.io/api 0.37, from the published type definitions).
 */
const LIST = `
apps.v1.DeploymentSpec: replicas revisionHistoryLimit progressDeadlineSeconds
apps.v1.DeploymentStatus: terminatingReplicas collisionCount
apps.v1.ReplicaSetSpec: replicas
apps.v1.ReplicaSetStatus: terminatingReplicas
apps.v1.RollingUpdateStatefulSetStrategy: partition
apps.v1.StatefulSetSpec: replicas revisionHistoryLimit
apps.v1.StatefulSetStatus: collisionCount
coordination.v1.LeaseSpec: holderIdentity leaseDurationSeconds leaseTransitions strategy preferredHolder
core.v1.AppArmorProfile: localhostProfile
core.v1.AzureDiskVolumeSource: cachingMode fsType readOnly kind
core.v1.CSIVolumeSource: readOnly fsType
core.v1.ClientIPConfig: timeoutSeconds
core.v1.ClusterTrustBundleProjection: name signerName optional user
core.v1.ConfigMap: immutable
core.v1.ConfigMapEnvSource: optional
core.v1.ConfigMapKeySelector: optional
core.v1.ConfigMapProjection: optional
core.v1.ConfigMapVolumeSource: defaultMode optional defaultUser
core.v1.Container: restartPolicy
core.v1.ContainerStatus: started stopSignal
core.v1.DownwardAPIVolumeFile: mode user
core.v1.DownwardAPIVolumeSource: defaultMode defaultUser
core.v1.EmptyDirVolumeSource: mode
core.v1.EndpointAddress: nodeName
core.v1.EndpointPort: appProtocol
core.v1.EvictionResponder: priority
core.v1.FCVolumeSource: lun
core.v1.FileKeySelector: optional
core.v1.GRPCAction: service mode
core.v1.HTTPGetAction: protocol
core.v1.HostPathVolumeSource: type
core.v1.ISCSIVolumeSource: initiatorName
core.v1.KeyToPath: mode user
core.v1.Lifecycle: stopSignal
core.v1.LoadBalancerIngress: ipMode
core.v1.NodeFeatures: supplementalGroupsPolicy
core.v1.NodeRuntimeHandlerFeatures: recursiveReadOnlyMounts userNamespaces
core.v1.NodeSwapStatus: capacity
core.v1.NodeSystemInfo: runningInUserNamespace
core.v1.PersistentVolumeClaimSpec: storageClassName volumeMode volumeAttributesClassName
core.v1.PersistentVolumeClaimStatus: currentVolumeAttributesClassName
core.v1.PodCertificateProjection: maxExpirationSeconds user
core.v1.PodDNSConfigOption: value
core.v1.PodResourceClaim: resourceClaimName resourceClaimTemplateName
core.v1.PodResourceClaimStatus: resourceClaimName
core.v1.PodSchedulingGroup: podGroupName
core.v1.PodSecurityContext: runAsUser runAsGroup runAsNonRoot supplementalGroupsPolicy fsGroup fsGroupChangePolicy seLinuxChangePolicy
core.v1.PodSpec: terminationGracePeriodSeconds activeDeadlineSeconds automountServiceAccountToken shareProcessNamespace priority runtimeClassName enableServiceLinks preemptionPolicy setHostnameAsFQDN hostUsers hostnameOverride
core.v1.PortStatus: error
core.v1.Probe: terminationGracePeriodSeconds
core.v1.ProjectedVolumeSource: defaultMode defaultUser
core.v1.ResourceHealth: message
core.v1.SeccompProfile: localhostProfile
core.v1.Secret: immutable
core.v1.SecretEnvSource: optional
core.v1.SecretKeySelector: optional
core.v1.SecretProjection: optional
core.v1.SecretVolumeSource: defaultMode optional defaultUser
core.v1.SecurityContext: privileged runAsUser runAsGroup runAsNonRoot readOnlyRootFilesystem allowPrivilegeEscalation procMount
core.v1.ServiceAccount: automountServiceAccountToken
core.v1.ServiceAccountTokenProjection: expirationSeconds user
core.v1.ServicePort: appProtocol
core.v1.ServiceSpec: ipFamilyPolicy allocateLoadBalancerNodePorts loadBalancerClass internalTrafficPolicy trafficDistribution
core.v1.Toleration: tolerationSeconds
core.v1.TopologySpreadConstraint: minDomains nodeAffinityPolicy nodeTaintsPolicy
core.v1.TypedLocalObjectReference: apiGroup
core.v1.TypedObjectReference: apiGroup namespace
core.v1.VolumeMount: recursiveReadOnly mountPropagation
core.v1.VolumeMountStatus: recursiveReadOnly
core.v1.WindowsSecurityContextOptions: gmsaCredentialSpecName gmsaCredentialSpec runAsUserName hostProcess
discovery.v1.Endpoint: hostname nodeName zone
discovery.v1.EndpointConditions: ready serving terminating
discovery.v1.EndpointPort: name protocol port appProtocol
apiextensions.v1.CustomResourceDefinitionVersion: deprecationWarning
apiextensions.v1.CustomResourceSubresourceScale: labelSelectorPath
apiextensions.v1.JSONSchemaProps: $ref maximum minimum maxLength minLength maxItems minItems multipleOf maxProperties minProperties x-kubernetes-preserve-unknown-fields x-kubernetes-list-type x-kubernetes-map-type
apiextensions.v1.ServiceReference: path port
apiextensions.v1.ValidationRule: reason optionalOldSelf
apiextensions.v1.WebhookClientConfig: url
meta.v1.ObjectMeta: deletionGracePeriodSeconds
meta.v1.OwnerReference: controller blockOwnerDeletion
`

/** Whether a field keeps its zero; the type is named as in OpenAPI (`io.k8s.api.apps.v1.DeploymentSpec`). */
export const keepsZero = (type: string, field: string): boolean => KEPT.has(`${shortName(type)} ${field}`)

const shortName = (type: string): string => type.split(".").slice(-3).join(".")

const KEPT: ReadonlySet<string> = new Set(
  LIST.trim()
    .split("\n")
    .flatMap((line) => {
      const [type = "", fields = ""] = line.split(": ")
      return fields.split(" ").map((field) => `${type} ${field}`)
    })
)
