// What stands on a report besides the answer: asked in the service's own questions, and kept until the page is closed.
import { call, Problem } from "./api.js";
import { byId, openDialog } from "./dom.js";
import { fault, fieldOf, markFault, sent } from "./form.js";

export function readyReportForm({ apply }) {
  const dialog = byId("report");
  const problem = byId("report-problem");
  let fields = null;
  let kept = {};
  // What the form holds, kept or not: closing it loses nothing.
  let values = {};

  function show() {
    byId("report-list").replaceChildren(
      ...fields.map((field) =>
        fieldOf(field, {
          id: "report-" + field.name,
          value: values[field.name] ?? "",
          change: (text) => {
            if (text === "") delete values[field.name];
            else values[field.name] = text;
          },
        }),
      ),
    );
  }

  async function open() {
    problem.textContent = "";
    openDialog(dialog);
    try {
      fields ??= (await call("forms")).forms.find((one) => one.id === "report").parts.flatMap((part) => part.fields);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      problem.textContent = error.message;
      return;
    }
    show();
  }

  byId("report-form").addEventListener("submit", (event) => {
    event.preventDefault();
    if (fields === null) return;
    const wrong = fields.find((field) => fault(field, values[field.name]) !== "");
    if (wrong !== undefined) {
      problem.textContent = wrong.question + " " + fault(wrong, values[wrong.name]);
      markFault("report-" + wrong.name);
      return;
    }
    kept = { ...values };
    dialog.close();
    apply();
  });
  return {
    open: open,
    // What goes along with the question, and the same in words.
    stated: () =>
      Object.fromEntries((fields ?? []).filter((field) => field.name in kept).map((field) => [field.name, sent(field, kept[field.name])])),
    words: () => (fields ?? []).filter((field) => field.type === "text" && field.name in kept).map((field) => kept[field.name]),
  };
}
