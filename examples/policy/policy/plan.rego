# Checks a plan. Usage: espalier plan --format json > plan.json && conftest test --policy policy plan.json
package main

import rego.v1

# Plans can omit keys. Without `object.get`, this rule would never match a step that has no key `windows`.
deny contains message if {
	some step in object.get(input, "steps", [])
	step.branch.name == "main"
	step.impact == "restart"
	count(object.get(step, "windows", [])) == 0
	message := sprintf("%s restarts a compute on main outside of any restart window", [step.id])
}

# Compares two values with each other, which Espalier's own policies cannot do.
deny contains message if {
	some change in object.get(input, "changes", [])
	change.kind in {"create", "update"}
	some attribute in change.attributes
	attribute.path == "size"
	is_object(attribute.after)
	attribute.after.max > 4 * attribute.after.min
	message := sprintf("%s scales by more than four times its minimum", [change.id])
}

# What is different after a change, at once or later. The kinds of effects are listed in docs/reference/codes.md.
deny contains message if {
	some change in object.get(input, "changes", [])
	change.branch.name == "main"
	some effect in object.get(change, "effects", [])
	effect.kind == "sleep"
	effect.before == false
	message := sprintf("%s starts to scale to zero", [change.id])
}
